import pytest
import torch
from torch import nn

from sublayer.models.store import load_tensors
from sublayer.train.moving import Average, Moving
from sublayer.train.plan import Watch
from sublayer.train.state import checkpoints


def test_the_mean_by_hand():
    model = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(0.0)
        mean = Moving(model, 0.5)
        model.weight.fill_(1.0)
        mean.update(1)  # d = min(0.5, 2 / 11): 2/11 · 0 + 9/11 · 1
        assert mean.held["weight"].item() == pytest.approx(9 / 11)
        model.weight.fill_(2.0)
        mean.update(100)  # d = 0.5
        assert mean.held["weight"].item() == pytest.approx(0.5 * 9 / 11 + 0.5 * 2)


def test_it_is_in_place_inside_and_gone_after_even_where_that_fails():
    model = nn.Linear(2, 2)
    mean = Moving(model, 0.9)
    first = model.weight.detach().clone()
    with torch.no_grad():
        model.weight += 1
    with pytest.raises(RuntimeError), mean.in_place():
        assert torch.equal(model.weight, first)
        raise RuntimeError
    assert torch.equal(model.weight, first + 1) and torch.equal(mean.held["weight"], first)


def test_tied_weights_are_held_once_and_frozen_ones_not():
    model = nn.ModuleDict({"a": nn.Linear(2, 2, bias=False), "b": nn.Linear(2, 2, bias=False), "c": nn.Linear(2, 2)})
    model["b"].weight = model["a"].weight
    model["c"].requires_grad_(False)
    mean = Moving(model, 0.9)
    assert list(mean.held) == ["a.weight"]
    with mean.in_place():
        assert model["b"].weight is model["a"].weight


def average(model):
    return Moving(model, 0.8)


def test_what_is_validated_and_kept_is_the_mean_and_what_trains_on_is_not(trainer, tmp_path):
    seen = []

    def validate():
        seen.append(run.model[0].weight.clone())
        return {"loss": 1.0 / run.at.step}

    limits = dict(steps=6, validate_every=6, clip=0)
    run = trainer("mean", average=average, validate=validate, watch=Watch(), limits=limits)
    run.run()
    plain = trainer("plain", limits=dict(steps=6, clip=0))
    plain.run()
    assert torch.equal(run.model[0].weight, plain.model[0].weight)
    kept = load_tensors(tmp_path / "mean" / "model.safetensors")["0.weight"]
    assert torch.equal(kept, seen[0]) and torch.equal(kept, run.average.held["0.weight"])
    assert not torch.equal(kept, run.model[0].weight)
    saved = load_tensors(checkpoints(tmp_path / "mean" / "checkpoints")[0] / "model.safetensors")
    assert torch.equal(saved["0.weight"], run.model[0].weight)


def test_it_goes_on_to_the_bit(trainer, tmp_path):
    whole = trainer("whole", average=average, limits=dict(steps=9, save_every=4, keep=9))
    whole.run()
    again = trainer("whole", average=average, limits=dict(steps=9, save_every=4, keep=9))
    again.resume(checkpoints(tmp_path / "whole" / "checkpoints")[0])
    again.run()
    for name, mean in whole.average.held.items():
        assert torch.equal(again.average.held[name], mean)


def test_without_one_the_weights_are_what_they_are():
    model = nn.Linear(2, 2)
    none = Average(model)
    none.update(1)
    with none.in_place():
        assert none.held == {}
