"""A mask a sample is taken for a mask a head, and a sample heeds another's mask."""

import pytest
import torch

from sublayer.errors import ShapeError
from sublayer.nn import Mask, MultiHeadAttention


@pytest.fixture
def attend(perturb):
    return perturb(MultiHeadAttention(8, 2)).eval()


def test_sample_0_does_not_depend_on_the_mask_of_sample_1(attend):
    """Two samples and two heads, where a mix-up of the two has the right shape."""
    x, keep = torch.randn(2, 2, 8), torch.rand(2, 2, 2) < 0.5
    keep[..., 0] = True
    other = keep.clone()
    other[1] = ~other[1]
    for read in (lambda m: m, lambda m: m[:, None], lambda m: m[:, :1]):
        assert attend(x, x, x, read(keep))[0].equal(attend(x, x, x, read(other))[0])
        assert not attend(x, x, x, read(keep))[1].equal(attend(x, x, x, read(other))[1])


def test_every_rank_says_the_same(attend):
    x, keep = torch.randn(2, 3, 8), torch.tensor([[True, True, False], [True, False, False]])
    expected = attend(x, x, x, Mask.padding(keep))
    for shape in ((2, 3), (2, 1, 3), (2, 1, 1, 3)):
        torch.testing.assert_close(attend(x, x, x, keep.view(shape)), expected)
    pairs = keep[:, None].expand(2, 3, 3)
    for mask in (pairs, pairs[:, None], pairs[:, None].expand(2, 2, 3, 3)):
        torch.testing.assert_close(attend(x, x, x, mask), expected)


@pytest.mark.parametrize("shape", [(4,), (4, 4), (4, 4, 4), (3, 1, 4), (2, 3, 4, 4), (2, 1, 4, 3), (1, 2, 1, 4, 4)])
def test_the_rest_is_refused_naming_the_expected_shapes(attend, shape):
    x = torch.randn(2, 4, 8)
    with pytest.raises(ShapeError, match=r"2-D mask is read as \(batch, keys\), .*3-D .*4-D .*Mask\(causal=True\)"):
        attend(x, x, x, torch.ones(shape, dtype=torch.bool))
