"""The same mask as bool and as 0/-inf floats gives different results, or a warning."""

import itertools

import torch

from sublayer.nn import Mask, MultiHeadAttention


def additive(mask):
    return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)


def test_all_combinations_agree(perturb):
    attend, x = perturb(MultiHeadAttention(8, 2)).eval(), torch.randn(2, 4, 8)
    padding = torch.tensor([[True, True, True, False], [True, True, True, True]])
    causal = torch.ones(1, 4, 4, dtype=torch.bool).tril()
    expected = attend(x, x, x, Mask.padding(padding) & Mask(causal=True))
    for one, other in itertools.product((padding, additive(padding)), (causal, additive(causal))):
        output = attend(x, x, x, Mask.of(one) & Mask.of(other))
        torch.testing.assert_close(output, expected, atol=1e-6, rtol=0)
    torch.testing.assert_close(attend(x, x, x, padding), attend(x, x, x, additive(padding)), atol=1e-6, rtol=0)
