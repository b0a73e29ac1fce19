import pytest
import torch
from tests.runs import Heard, command, tiny_recipe, words, write_pairs

import sublayer
from sublayer.models.store import load_weights
from sublayer.tasks.fit import fit


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    train = write_pairs(folder / "train.tsv", words()[:50])
    fit(tiny_recipe(train, steps=9, save_every=3, keep=3), folder / "run", Heard())
    return folder / "run"


def test_the_averaged_model_is_a_model_like_any_other(run, tmp_path):
    steps = [sublayer.load(run, weights=False) for _ in range(2)]
    for task, step in zip(steps, (6, 9), strict=True):
        load_weights(task.model, run / "checkpoints" / f"step-{step:08d}" / "model.safetensors")
    said = command("average", run, "--last", 2, "--out", tmp_path / "mean")
    assert said.out == f"{tmp_path / 'mean'}: mean of steps 6, 9\n"
    mean = sublayer.load(tmp_path / "mean")
    for ours, a, b in zip(mean.model.parameters(), *(t.model.parameters() for t in steps), strict=True):
        torch.testing.assert_close(ours, (a + b) / 2)
    assert command("average", run).out == f"{run / 'averaged'}: mean of steps 3, 6, 9\n"
    assert command("predict", run / "averaged", stdin=b"ab\n").code == 0


def test_too_few_checkpoints_are_refused_with_the_cure(run, tmp_path):
    problem = f"sublayer: {run} has 3 checkpoints, and 4 are needed: train with --set train.keep=4.\n"
    assert command("average", run, "--last", 4) == (2, "", problem)
    problem = f"sublayer: {tmp_path} has 0 checkpoints, and 2 or more are needed: train with --set train.keep=10.\n"
    assert command("average", tmp_path) == (2, "", problem)
