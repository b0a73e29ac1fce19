"""Odd widths fail, exponents are off, layouts are mixed up."""

import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.nn import Sinusoidal

RIGHT = [
    (4, "interleaved", 1, [0.841471, 0.540302, 0.010000, 0.999950]),
    (4, "halves", 1, [0.841471, 0.010000, 0.540302, 0.999950]),
    (5, "interleaved", 3, [0.141120, -0.989992, 0.075285, 0.997162, 0.001893]),
    (1, "interleaved", 2, [0.909297]),
    (1, "halves", 2, [0.909297]),
]


@pytest.mark.parametrize("width, layout, place, row", RIGHT)
def test_right_values(width, layout, place, row):
    table = Sinusoidal(width, layout=layout)(torch.tensor([place]), place + 1)
    torch.testing.assert_close(table, torch.tensor([row]), atol=1e-6, rtol=0)


def test_the_layout_is_a_named_option():
    with pytest.raises(ConfigError, match="'interleaved' or 'halves'"):
        Sinusoidal(4, layout="marian")
