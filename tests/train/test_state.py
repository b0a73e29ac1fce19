import json
import random

import numpy as np
import pytest
import torch
from torch import nn

from sublayer.errors import CheckpointError
from sublayer.train.optim import optimizer
from sublayer.train.state import Position, checkpoints, restore, rotate, save


def trained(kind="adamw"):
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 3, bias=False))
    model[1].weight = nn.Parameter(torch.randn(3, 4))
    steps = optimizer(model, kind)
    for _ in range(2):
        model(torch.randn(5, 3)).square().sum().backward()
        steps.step()
        steps.zero_grad()
    return model, steps


@pytest.mark.parametrize("kind", ["adam", "adamw"])
def test_weights_moments_and_position_come_back_to_the_bit(tmp_path, kind):
    model, steps = trained(kind)
    at = Position(step=7, epoch=1, batch=3, seconds=1.5, best=0.1, best_step=5, window_nll=0.25, extra={"a": [1]})
    folder = save(tmp_path, model, steps, at)
    other, other_steps = trained(kind)
    assert restore(folder, other, other_steps) == at
    for ours, theirs in zip(other.parameters(), model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
        for moment, value in steps.state[theirs].items():
            assert torch.equal(other_steps.state[ours][moment], value)
            assert other_steps.state[ours][moment].dtype == value.dtype


def test_all_three_generators_go_on_where_they_stood(tmp_path):
    def draw():
        return torch.rand(3).tolist(), np.random.rand(3).tolist(), [random.random(), random.gauss(0, 1)]

    random.gauss(0, 1), np.random.randn()  # both hold a second normal number back
    folder = save(tmp_path, *trained(), Position())
    expected = draw()
    torch.manual_seed(9), np.random.seed(9), random.seed(9)
    assert draw() != expected
    restore(folder, *trained())
    assert draw() == expected


def test_a_model_that_has_not_trained_yet_has_no_moments(tmp_path):
    model = nn.Linear(2, 2)
    folder = save(tmp_path, model, optimizer(model, "adam"), Position())
    other = nn.Linear(2, 2)
    restore(folder, other, optimizer(other, "adam"))
    assert torch.equal(other.weight, model.weight)


def test_names_are_the_same_from_a_compiled_model(tmp_path):
    class Wrapped(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self._orig_mod = inner

    model, steps = trained()
    folder = save(tmp_path, Wrapped(model), steps, Position())
    other, other_steps = trained()
    restore(folder, other, other_steps)
    first, theirs = next(other.parameters()), next(model.parameters())
    assert torch.equal(other_steps.state[first]["exp_avg"], steps.state[theirs]["exp_avg"])


def test_only_whole_checkpoints_count_and_the_oldest_go(tmp_path):
    for step in (100, 20, 3):
        save(tmp_path, *trained(), Position(step=step))
    (tmp_path / "step-00000200").mkdir()  # died while it was copied
    (tmp_path / ".step-00000300.part").mkdir()
    assert [c.name for c in checkpoints(tmp_path)] == ["step-00000003", "step-00000020", "step-00000100"]
    rotate(tmp_path / "step-00000100", 2)
    assert [c.name for c in checkpoints(tmp_path)] == ["step-00000020", "step-00000100"]


def test_what_was_passed_over_does_not_push_out_what_is_saved_now(tmp_path):
    for step in (4, 8, 6):  # 8 was damaged, and the run went on from 4
        saved = save(tmp_path, *trained(), Position(step=step))
    rotate(saved, 1)
    assert [c.name for c in checkpoints(tmp_path)] == ["step-00000006", "step-00000008"]


def test_a_save_that_dies_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    model, steps = trained()
    save(tmp_path, model, steps, Position(step=1))

    def die(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("sublayer.train.intact.os.replace", die)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, model, steps, Position(step=2))
    monkeypatch.undo()
    assert [c.name for c in checkpoints(tmp_path)] == ["step-00000001"]
    save(tmp_path, model, steps, Position(step=2))
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["step-00000001", "step-00000002"]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda state: state.pop("generators"), "does not hold what a checkpoint should: KeyError"),
        (lambda state: state["position"].update(pace=3), "does not hold .*pace"),
        (lambda state: state["optimizer"].update({"2.weight": {"step": 1}}), "moments of 2.weight, which this model"),
        (lambda state: state["generators"][0].update(python=[3, [], None]), "does not hold"),
    ],
)
def test_what_a_checkpoint_should_not_be_is_told(tmp_path, spoil, words):
    folder = save(tmp_path, *trained(), Position())
    state = json.loads((folder / "state.json").read_text("utf-8"))
    spoil(state)
    (folder / "state.json").write_text(json.dumps(state), "utf-8")
    with pytest.raises(CheckpointError, match=words):
        restore(folder, *trained())


def test_a_missing_or_broken_record_is_told(tmp_path):
    with pytest.raises(CheckpointError, match="nowhere is no checkpoint"):
        restore(tmp_path / "nowhere", *trained())
    folder = save(tmp_path, *trained(), Position())
    (folder / "state.json").write_text("{", "utf-8")
    with pytest.raises(CheckpointError, match="is no checkpoint: "):
        restore(folder, *trained())
    with pytest.raises(CheckpointError, match="does not fit the model"):
        (folder / "state.json").write_text("{}", "utf-8")
        restore(folder, nn.Linear(2, 2), trained()[1])
