import pytest
import torch
from torch import nn

from sublayer.nn import RMSNorm, StochasticDepth, SublayerConnection


@pytest.fixture
def x():
    return torch.randn(2, 3, 8)


def test_pre_norm_is_its_formula(x, perturb):
    step, f = perturb(SublayerConnection(8, 0.0)), nn.Linear(8, 8)
    torch.testing.assert_close(step(x, f), x + f(step.norm(x)))


def test_post_norm_is_its_formula(x, perturb):
    step, f = perturb(SublayerConnection(8, 0.0, norm_first=False)), nn.Linear(8, 8)
    torch.testing.assert_close(step(x, f), step.norm(x + f(x)))


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_norm_is_a_factory(x, norm_first):
    step = SublayerConnection(8, norm=RMSNorm, norm_first=norm_first)
    assert isinstance(step.norm, RMSNorm)
    assert step(x, lambda x: x).shape == x.shape


def test_dropout_touches_the_branch_never_the_stream(x):
    step = SublayerConnection(8, 0.5)
    branch = step(x, torch.ones_like) - x
    assert set(branch.round(decimals=3).unique().tolist()) == {0.0, 2.0}
    torch.testing.assert_close(step.eval()(x, torch.ones_like), x + 1)


def test_dropout_is_a_tenth_by_default():
    assert SublayerConnection(8).dropout.p == 0.1


def test_a_row_skips_the_sublayer_or_takes_it_for_those_that_do():
    torch.manual_seed(0)
    step = StochasticDepth(4, 0.0, skip=0.25).train()
    x = torch.randn(4000, 2, 4)
    told = step(x, lambda y: torch.ones_like(y)) - x
    skipped = (told == 0).flatten(1).all(1)
    torch.testing.assert_close(told[~skipped], torch.full_like(told[~skipped], 1 / 0.75))
    assert skipped.float().mean().item() == pytest.approx(0.25, abs=0.03)  # four standard deviations
    assert told.mean().item() == pytest.approx(1.0, abs=0.04)


@pytest.mark.parametrize("norm_first", [True, False])
def test_outside_of_training_nothing_is_skipped(norm_first):
    ours, plain = StochasticDepth(4, 0.5, skip=0.9, norm_first=norm_first), SublayerConnection(4, norm_first=norm_first)
    x = torch.randn(2, 3, 4)
    assert torch.equal(ours.eval()(x, torch.tanh), plain.eval()(x, torch.tanh))
