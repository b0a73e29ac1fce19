import pytest
import torch
from torch import nn

from sublayer.nn import RMSNorm, SublayerConnection


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
