import random

import numpy as np
import pytest
import torch
from tests.train.conftest import Numbers, loss
from torch import nn

from sublayer.errors import ConfigError
from sublayer.nn import Dropout
from sublayer.train.find import as_before, good_rate, good_size, losses_by_rate, tokens_a_second, tried_rates
from sublayer.train.loss import Loss


def plain(model):
    return torch.optim.SGD(model.parameters(), lr=1.0)


class Alike:
    """Always the same batch."""

    def epoch(self, number):
        return [0]

    def make(self, rows):
        return torch.ones(1)


def bowl(model, batch):
    """w² / 2: an update of rate r makes (1 - r) w of w."""
    total = model.weight.square().sum() / 2
    return Loss(total, total.detach(), 1)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), Dropout(0.3), nn.Tanh(), nn.Linear(8, 3))


def test_each_update_meets_the_loss_that_the_rates_before_it_have_made():
    line = nn.Linear(1, 1, bias=False)
    nn.init.constant_(line.weight, 2.0)
    losses = losses_by_rate(line, bowl, Alike(), plain, [0.5, 0.25, 3.0, 4.0, 1.0], norm=0)
    # w: 2, then 1, 0.75, -1.5 and so on; the loss 1.125 is 4 times 0.28125, which ends it
    assert losses == pytest.approx([2.0, 0.5, 0.28125])
    assert line.weight.item() == 2.0 and line.weight.grad is None


def test_gradients_are_cut():
    line = nn.Linear(1, 1, bias=False)
    nn.init.constant_(line.weight, 3.0)
    losses = losses_by_rate(line, bowl, Alike(), plain, [1.0, 1.0, 1.0], norm=1.0)
    assert losses == pytest.approx([4.5, 2.0, 0.5], rel=1e-4)  # by 1 at a time, not by w


def test_a_loss_that_is_no_number_ends_it():
    line = nn.Linear(1, 1, bias=False)
    nn.init.constant_(line.weight, 1.0)
    assert losses_by_rate(line, bowl, Alike(), plain, [0.5, float("inf"), 1.0, 1.0], norm=0) == [0.5, 0.125]


def test_a_tenth_of_the_rate_where_the_loss_is_lowest():
    rates = np.geomspace(1e-7, 1, 2000).tolist()
    losses = [(np.log10(rate) + 2) ** 2 for rate in rates]
    assert good_rate(rates, losses) == pytest.approx(1e-3, rel=0.1)  # smoothing is late by some of the 2,000
    spiked = [*losses[:600], -20.0, *losses[601:]]  # one lucky batch
    assert good_rate(rates, spiked) == pytest.approx(1e-3, rel=0.1)


def test_a_loss_that_only_rises_is_told():
    with pytest.raises(ConfigError, match="falls at no rate from 0.1 to 1: look at the data"):
        good_rate([0.1, 0.5, 1.0], [1.0, 2.0, 3.0])


def test_rates_are_so_many_times_the_one_before():
    rates = tried_rates()
    assert (rates[0], rates[-1]) == pytest.approx((1e-7, 1.0))
    assert np.diff(np.log(rates)) == pytest.approx(np.log(10) * 7 / 99)


@pytest.mark.parametrize(
    "speeds, expected",
    [
        ({512: 100, 1024: 150, 2048: 170, 4096: 180}, 2048),  # 180 is less than a tenth more than 170
        ({512: 100, 1024: 150}, 1024),  # more does not fit
        ({512: 100, 1024: 100}, 512),
    ],
)
def test_batches_grow_while_they_fit_and_pay(speeds, expected):
    def speed(tokens):
        if tokens not in speeds:
            raise torch.OutOfMemoryError
        return speeds[tokens]

    assert good_size(speed, 512) == expected


def test_the_first_must_fit():
    def speed(tokens):
        raise torch.OutOfMemoryError

    with pytest.raises(torch.OutOfMemoryError):
        good_size(speed, 512)


@pytest.mark.parametrize("training", [True, False])
def test_nothing_is_left_behind(model, training):
    model.train(training)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    torch.manual_seed(7), random.seed(7), np.random.seed(7)
    expected = torch.rand(2).tolist(), random.random(), np.random.rand()
    torch.manual_seed(7), random.seed(7), np.random.seed(7)
    assert tokens_a_second(model, loss, Numbers(), plain) > 0
    assert len(losses_by_rate(model, loss, Numbers(), plain, [1e-3] * 20)) == 20
    with pytest.raises(KeyboardInterrupt), as_before(model):
        random.random(), np.random.rand()
        raise KeyboardInterrupt
    assert (torch.rand(2).tolist(), random.random(), np.random.rand()) == expected
    assert model.training is training and all(p.grad is None for p in model.parameters())
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])
