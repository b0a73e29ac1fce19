"""Which of True and False hides, and what a mask of numbers means, is guessed."""

import pytest
import torch

from sublayer.errors import ShapeError
from sublayer.nn import Eager, Fused, Mask, MultiHeadAttention, attention

SAYS_THE_SAME = {
    "bool": torch.tensor([[True, True, False]]),
    "int": torch.tensor([[1, 1, 0]]),
    "uint8": torch.tensor([[1, 1, 0]], dtype=torch.uint8),
    "additive": torch.tensor([[0.0, 0.0, -torch.inf]]),
}


@pytest.mark.parametrize("mask", SAYS_THE_SAME.values(), ids=SAYS_THE_SAME.keys())
def test_true_one_and_nothing_added_mean_seen(mask):
    q, value = torch.zeros(1, 1, 1, 4), torch.eye(3)[None, None]
    keys = torch.zeros(1, 1, 3, 4)
    output, weights = attention(q, keys, value, mask)
    assert weights.flatten().tolist() == [0.5, 0.5, 0.0]
    for kernel in (Eager(), Fused()):
        assert kernel(q, keys, value, Mask.of(mask)).flatten().tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_floats_0_and_1_are_never_silently_added(dtype):
    x = torch.zeros(1, 3, 4)
    with pytest.raises(ShapeError, match=r"holding only 0 and 1: is 0 'hidden' or 'nothing added'\? Write mask\.bool"):
        MultiHeadAttention(4, 1)(x, x, x, torch.tensor([[1, 1, 0]], dtype=dtype))
