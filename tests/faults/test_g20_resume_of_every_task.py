"""G20 and G37, every task: a run that goes on equals one that was never stopped; no parameter is without a gradient."""

import pytest
from tests.every_task import EVERY, recipe
from tests.runs import Heard

from sublayer.tasks.fit import fit
from sublayer.tasks.prepare import prepare
from sublayer.tasks.recipe_file import read_recipe


@pytest.mark.parametrize("name", EVERY)
def test_to_the_bit(tmp_path, name):
    fit(recipe(name, tmp_path, steps=3), tmp_path / "stopped", Heard())
    path = tmp_path / "stopped" / "recipe.yaml"
    path.write_text(path.read_text("utf-8").replace("steps: 3", "steps: 6"), encoding="utf-8")
    goes_on, whole = Heard(), Heard()
    fit(read_recipe(path), tmp_path / "stopped", goes_on, resume=True)
    fit(recipe(name, tmp_path), tmp_path / "whole", whole)
    for part in ("model.safetensors", "state.safetensors"):
        one, other = (tmp_path / run / "checkpoints" / "step-00000006" / part for run in ("stopped", "whole"))
        assert one.read_bytes() == other.read_bytes()
    before, after = ([line["loss"] for line in heard.records if "loss" in line] for heard in (whole, goes_on))
    assert len(before) == 6 and before[3:] == after
    steps = [heard.records[-1].get("valid_loss") for heard in (whole, goes_on)]
    assert steps[0] == steps[1] is not None


@pytest.mark.parametrize("name", EVERY)
def test_every_parameter_learns_in_an_epoch(tmp_path, name):
    ready = prepare(recipe(name, tmp_path), Heard())
    job, task, train = ready.job, ready.task, ready.recipe.train
    loss, batches = job.loss(task, train), job.batches(task, ready.examples, train)
    for batch in batches.epoch(0):
        loss(task.model.train(), batches.make(batch)).mean.backward()
    assert not [name for name, p in task.model.named_parameters() if p.grad is None or not p.grad.any()]
