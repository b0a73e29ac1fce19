"""G18: warm-up off by one, without warm-up a division by zero, the schedule moved by micro-batches."""

from functools import partial

import pytest
import torch
from tests.runs import Heard
from torch import nn

from sublayer.train.loss import cross_entropy
from sublayer.train.optim import optimizer
from sublayer.train.plan import Limits
from sublayer.train.schedule import SCHEDULES, InverseSquareRoot, noam_peak
from sublayer.train.trainer import Trainer

NOAM = InverseSquareRoot(noam_peak(512, 4000), 4000, 100_000)


@pytest.mark.parametrize(
    ("update", "rate"), [(1, 1.746928e-07), (2, 3.493856e-07), (4000, 6.987712e-04), (8000, 4.941059e-04)]
)
def test_width_512_and_warm_up_4000(update, rate):
    assert NOAM(update) == pytest.approx(rate, rel=1e-6)


@pytest.mark.parametrize("name", SCHEDULES)
def test_without_warm_up_the_first_update_has_the_peak(name):
    assert SCHEDULES[name](0.5, 0, 10)(1) == pytest.approx(0.5, rel=0.1)


class Eight:
    """Eight batches an epoch; those that are `empty` have no token."""

    def __init__(self, empty=()):
        self.empty = empty

    def epoch(self, number):
        return list(range(8))

    def make(self, row):
        return torch.full((0 if row in self.empty else 2, 3), float(row)), row


def run(folder, batches, steps, **limits):
    def loss(model, batch):
        x, _ = batch
        return cross_entropy(model(x), torch.zeros(len(x), dtype=torch.long))

    model = nn.Linear(3, 4)
    schedule, heard = SCHEDULES["linear"](0.1, 2, steps), Heard()
    trainer = Trainer(
        model,
        loss,
        batches,
        partial(optimizer, kind="adam"),
        schedule,
        Limits(steps=steps, log_every=1, **limits),
        folder=folder,
        listener=heard,
    )
    return trainer.run(), schedule, heard.records


def test_one_tick_an_update_and_not_a_micro_batch(tmp_path):
    _, schedule, records = run(tmp_path, Eight(), 4, accumulate=4)
    assert [line["rate"] for line in records] == [schedule(n) for n in (1, 2, 3, 4)]
    assert [line["epoch"] for line in records] == [0, 0, 1, 1]


def test_a_skipped_update_does_not_tick(tmp_path):
    at, schedule, records = run(tmp_path, Eight(empty=(1, 2)), 6)
    assert (at.step, at.skipped) == (6, 2)
    assert [line["rate"] for line in records] == [schedule(n) for n in (1, 2, 2, 2, 3, 4)]
