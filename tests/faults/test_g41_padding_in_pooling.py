"""G41: padding reaches no vector of a text."""

import pytest
import torch
from torch import nn

from sublayer.models.heads import EncoderWithHead, first, largest, mean
from sublayer.nn import Mask

TOKENS = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]])  # the third is padding


class Given(nn.Module):
    """An encoder whose states are what stands in its table."""

    def forward(self, ids, mask=None):
        return TOKENS.expand(len(ids), -1, -1)


class Pooled(nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.pool = pool

    def forward(self, x, lengths):
        return self.pool(x, lengths)


@pytest.mark.parametrize(("pool", "right"), [(mean, [2, 3]), (largest, [3, 4]), (first, [1, 2])])
def test_a_vector_of_two_tokens(pool, right):
    model = EncoderWithHead(Given(), Pooled(pool))
    ids, lengths = torch.tensor([[4, 5, 0], [4, 5, 6]]), torch.tensor([2, 3])
    assert model(ids, Mask.lengths(lengths))[0].tolist() == right
    assert model(ids[:1], Mask.lengths(lengths[:1], 3)).tolist() == [right]
