"""A row with no allowed key becomes NaN, and the NaN reaches every sample."""

import contextlib

import pytest
import torch

from sublayer.nn import Eager, EncoderLayer, FeedForward, Fused, Mask, MultiHeadAttention, attention

KEEP = torch.tensor([[True, True, False, False], [False] * 4])
MODES = {
    "train": (True, contextlib.nullcontext),
    "eval": (False, contextlib.nullcontext),
    "no_grad": (False, torch.no_grad),
    "inference": (False, torch.inference_mode),
}


def test_weights_of_a_row_without_keys_are_exactly_zero():
    x = torch.randn(2, 3, 4, 8)
    output, weights = attention(x, x, x, KEEP)
    assert weights[1].eq(0).all() and output[1].eq(0).all()
    assert weights[0, ..., 2:].eq(0).all()
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(3, 4))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kernel", [Eager(), Fused()], ids=["eager", "fused"])
@pytest.mark.parametrize("causal", [False, True])
def test_everything_stays_finite_and_sample_0_is_itself(mode, kernel, causal, perturb):
    train, context = MODES[mode]
    attend = MultiHeadAttention(8, 2, dropout=0.0, kernel=kernel)
    layer = perturb(EncoderLayer(8, attend, FeedForward(8, 16, 0.0), 0.0)).train(train)
    x, mask = torch.randn(2, 4, 8), Mask.padding(KEEP) & Mask(causal=causal)
    with context():
        output = layer(x, mask)
        alone = layer(x[:1, :2], Mask(causal=causal))
    assert output.isfinite().all()
    torch.testing.assert_close(output[:1, :2], alone, atol=1e-6, rtol=0)
    if output.requires_grad:
        output.sum().backward()
        assert all(p.grad.isfinite().all() for p in layer.parameters())
