"""G17, every task: losses and metrics of an evaluation know nothing of how it was batched, nor of its order."""

import random

import pytest
from tests.every_task import EVERY, recipe
from tests.runs import Heard

from sublayer.tasks import complete, fill, spans, texts
from sublayer.tasks.prepare import prepare

ORDERED = ("complete", "fill", "fill spans")  # a running text, and draws that go by the line


@pytest.mark.parametrize("name", EVERY)
def test_any_batch_size_and_any_order(tmp_path, monkeypatch, name):
    ready = prepare(recipe(name, tmp_path), Heard())
    task, items = ready.task, ready.valid.items

    def measured(items):
        return [(score.name, score.value, score.count) for score in task.evaluate(items, ["loss", task.metrics[0]])]

    expected = measured(items)
    for tokens in (1, 12, 10**6):
        for module in (complete, fill, spans, texts):
            monkeypatch.setattr(module, "BATCH_TOKENS", tokens)
        for found, right in zip(measured(items), expected, strict=True):
            assert found == (right[0], pytest.approx(right[1], rel=1e-5), right[2])
    if name in ORDERED:
        return
    shuffled = random.Random(1).sample(list(items), len(items))
    assert shuffled != list(items)
    for found, right in zip(measured(shuffled), expected, strict=True):
        assert found == (right[0], pytest.approx(right[1], rel=1e-5), right[2])
    alone = [(score.value, score.count) for item in items for score in task.evaluate([item], ["loss"])]
    (_, loss, n), *_ = expected
    assert loss == pytest.approx(sum(value * count for value, count in alone) / n, rel=1e-5)
    assert n == sum(count for _, count in alone)
