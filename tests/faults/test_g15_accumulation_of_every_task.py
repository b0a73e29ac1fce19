"""G15, every task: a batch costs what its parts cost together, whatever they are split into."""

import pytest
import torch
from tests.every_task import EVERY, recipe
from tests.runs import Heard

from sublayer.tasks.prepare import prepare

SPLITS = [[[0], [1, 2, 3], [4, 5]], [[5, 4, 3, 2, 1], [0]], [[i] for i in range(6)]]


@pytest.mark.parametrize("name", EVERY)
def test_total_and_count_are_sums(tmp_path, name):
    ready = prepare(recipe(name, tmp_path), Heard())
    job, task, train = ready.job, ready.task, ready.recipe.train
    loss, batches = job.loss(task, train), job.batches(task, ready.examples, train)
    model = task.model.eval()

    @torch.no_grad()
    def cost(rows):
        return loss(model, batches.make((0, rows) if name.startswith("fill") else rows))

    whole = cost([0, 1, 2, 3, 4, 5])
    for split in SPLITS:
        parts = [cost(rows) for rows in split]
        assert sum(part.count for part in parts) == whole.count
        assert sum(float(part.total) for part in parts) == pytest.approx(float(whole.total), rel=1e-5)
    assert len({round(float(part.mean), 4) for part in parts}) > 1  # the mean of means would be another number
