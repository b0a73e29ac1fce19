import math

import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.nn import LinearRotary, Llama3Rotary, Rotary


def test_linear_is_rotary_at_a_part_of_the_position():
    x, far = torch.randn(1, 2, 3, 8), torch.tensor([[0, 4, 40]])
    torch.testing.assert_close(LinearRotary(8, factor=4.0)(x, index=far), Rotary(8)(x, index=far // 4))


def test_llama3_by_hand():
    """Of 64 numbers with theta 500,000 in 8,192 positions: pairs with 4 turns or more, with 1 or fewer, and between."""
    plain = Rotary(64, theta=500_000.0).frequencies
    scaled = Llama3Rotary(64, factor=8.0, low=1.0, high=4.0, original=8192, theta=500_000.0).frequencies
    for before, after in zip(plain.tolist(), scaled.tolist(), strict=True):
        turns = 8192 * before / (2 * math.pi)
        share = min(max((turns - 1) / 3, 0), 1)
        assert after == pytest.approx((1 - share) * before / 8 + share * before, rel=1e-5)
    assert scaled[0] == plain[0] and scaled[-1].item() == pytest.approx(plain[-1].item() / 8)
    assert ((scaled < plain * 0.99) & (scaled > plain / 7.9)).any()


def test_turns_in_the_wrong_order():
    with pytest.raises(ConfigError, match="low=4 turns and high=4: low must be below high"):
        Llama3Rotary(8, factor=2, low=4, high=4, original=16)
