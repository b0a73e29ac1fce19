"""G39: a batch without any target token made everything NaN."""

import math
from functools import partial

import pytest
import torch
from tests.runs import Heard
from torch import nn

from sublayer.train.loss import cross_entropy
from sublayer.train.optim import optimizer
from sublayer.train.plan import Limits
from sublayer.train.schedule import Constant
from sublayer.train.trainer import Trainer


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_over_no_position_the_loss_is_zero_and_so_are_the_gradients(smoothing):
    logits = torch.randn(3, 5, requires_grad=True)
    real = torch.zeros(3, dtype=torch.bool)
    loss = cross_entropy(logits[real], torch.tensor([0, 0, 0])[real], smoothing)
    loss.total.backward()
    assert (loss.total.item(), loss.nll.item(), loss.count, loss.mean.item()) == (0.0, 0.0, 0, 0.0)
    assert logits.grad.eq(0).all()


class Rows:
    def __init__(self, sizes):
        self.sizes = sizes

    def epoch(self, number):
        return self.sizes

    def make(self, size):
        return torch.ones(size, 3)


def train(folder, sizes, steps, **limits):
    torch.manual_seed(0)
    folder.mkdir(exist_ok=True)
    model, heard = nn.Linear(3, 4), Heard()
    trainer = Trainer(
        model,
        lambda model, x: cross_entropy(model(x), torch.zeros(len(x), dtype=torch.long)),
        Rows(sizes),
        partial(optimizer, kind="adamw", weight_decay=0.1),
        Constant(0.1, 0, steps),
        Limits(steps=steps, log_every=1, **limits),
        folder=folder,
        listener=heard,
    )
    return trainer.run(), model, heard


def test_the_update_is_skipped_and_counted(tmp_path):
    torch.manual_seed(0)
    before = nn.Linear(3, 4).weight
    at, model, heard = train(tmp_path, [0], 3)
    assert (at.step, at.skipped) == (3, 3)
    assert model.weight.equal(before)  # neither moments nor weight decay have moved it
    assert [line["loss"] for line in heard.records] == [0.0] * 3
    assert [line["skipped"] for line in heard.records] == [1, 2, 3]


def test_updates_around_it_are_as_if_it_were_not_there(tmp_path):
    _, with_gap, heard = train(tmp_path / "a", [2, 0, 2], 3)
    _, without, _ = train(tmp_path / "b", [2, 2], 2)
    assert with_gap.weight.equal(without.weight)
    assert all(math.isfinite(line["loss"]) for line in heard.records)


def test_an_empty_micro_batch_adds_nothing(tmp_path):
    at, with_gap, _ = train(tmp_path / "a", [2, 0], 1, accumulate=2)
    _, without, _ = train(tmp_path / "b", [2], 1)
    assert at.skipped == 0 and with_gap.weight.equal(without.weight)
