import pytest
import torch
import torch.nn.functional as F

from sublayer.errors import ConfigError
from sublayer.nn import GEGLU, GLU, FeedForward, GatedFeedForward, SwiGLU
from sublayer.nn.feedforward import ACTIVATIONS


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_feed_forward_is_its_formula(name, perturb):
    ffn, x = perturb(FeedForward(4, 6, 0.0, activation=name)), torch.randn(2, 3, 4)
    torch.testing.assert_close(ffn(x), ffn.down(ACTIVATIONS[name](x @ ffn.up.weight.T + ffn.up.bias)))


@pytest.mark.parametrize("make, act", [(GLU, torch.sigmoid), (GEGLU, F.gelu), (SwiGLU, F.silu)])
def test_gated_feed_forward_is_its_formula(make, act, perturb):
    ffn, x = perturb(make(4, 6, 0.0)), torch.randn(2, 3, 4)
    torch.testing.assert_close(ffn(x), ffn.down(act(ffn.gate(x)) * ffn.up(x)))


def test_the_two_gelus():
    x = torch.tensor([1.0])
    assert ACTIVATIONS["gelu"](x).item() == pytest.approx(0.841345, abs=1e-6)
    assert ACTIVATIONS["gelu_tanh"](x).item() == pytest.approx(0.841192, abs=1e-6)


@pytest.mark.parametrize("make", [FeedForward, GatedFeedForward])
def test_hidden_width_is_four_times_by_default(make):
    assert make(4).up.weight.shape == (16, 4)


@pytest.mark.parametrize("make", [FeedForward, GatedFeedForward])
def test_without_bias_there_is_none(make):
    assert all(name.endswith("weight") for name, _ in make(4, bias=False).named_parameters())


@pytest.mark.parametrize("make", [FeedForward, GatedFeedForward])
def test_dropout_only_while_training(make):
    ffn, x = make(4, 64, 0.5), torch.randn(1, 2, 4)
    assert not ffn(x).equal(ffn(x))
    ffn.eval()
    assert ffn(x).equal(ffn(x))


def test_a_function_of_ones_own():
    assert FeedForward(4, activation=torch.sin).act is torch.sin


@pytest.mark.parametrize("make", [FeedForward, GatedFeedForward])
def test_an_unknown_activation_names_the_nearest(make):
    with pytest.raises(ConfigError, match=r"activation 'gelu_tan' is unknown\. Did you mean 'gelu_tanh'\?"):
        make(4, activation="gelu_tan")
