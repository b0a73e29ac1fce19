"""Asking for attention weights changes or loses results; a causal flag alone is not enough."""

import pytest
import torch

from sublayer.inspect import attention_maps
from sublayer.nn import Eager, Fused, Mask, MultiHeadAttention

CAUSAL = torch.ones(3, 3, dtype=torch.bool).tril()


@pytest.fixture
def attn():
    torch.manual_seed(0)
    return MultiHeadAttention(8, 2).eval()


@pytest.mark.parametrize("kernel", [Fused(), Eager()], ids=["fused", "eager"])
@pytest.mark.parametrize(
    "mask",
    [Mask(causal=True), Mask(keep=CAUSAL[None, None]), Mask(causal=True) & Mask(keep=CAUSAL[None, None])],
    ids=["flag", "explicit", "both"],
)
def test_causal_with_and_without_weights(attn, kernel, mask):
    attn.kernel = kernel
    x = torch.randn(2, 3, 8)
    without = attn(x, x, x, mask)
    with attention_maps(attn) as maps:
        with_weights = attn(x, x, x, mask)
    weights = maps[""]
    torch.testing.assert_close(with_weights, without, rtol=1e-5, atol=1e-5)
    assert weights.shape == (2, 2, 3, 3)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 3), rtol=0, atol=1e-6)
    assert (weights[..., 0, 1] == 0).all() and (weights[..., ~CAUSAL] == 0).all()
    # Without the flag the future is seen: the zeros above are the mask's doing.
    with attention_maps(attn) as maps:
        attn(x, x, x)
    assert (maps[""][..., 0, 1] > 0).all()


def test_cross_attention_of_another_length_has_its_own_map_a_head(attn):
    x, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    keep = torch.tensor([[True] * 5, [True, True, False, False, False]])
    without = attn(x, memory, memory, keep)
    with attention_maps(attn) as maps:
        with_weights = attn(x, memory, memory, keep)
    torch.testing.assert_close(with_weights, without, rtol=1e-5, atol=1e-5)
    assert maps[""].shape == (2, 2, 3, 5)
    torch.testing.assert_close(maps[""].sum(-1), torch.ones(2, 2, 3), rtol=0, atol=1e-6)
    assert (maps[""][1, ..., 2:] == 0).all()
    assert not torch.allclose(maps[""][:, 0], maps[""][:, 1])
