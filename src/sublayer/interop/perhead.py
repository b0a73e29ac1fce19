"""Maps to queries, keys and values that lie head by head in one tensor."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class PerHead:
    """Theirs holds head after head, and of each head the rows of `parts` of ours.

    heads  set by a family, which knows how many a model has
    """

    parts: int
    heads: int = 1

    def split(self, theirs: Tensor) -> Sequence[Tensor]:
        return [part.flatten(0, 1) for part in theirs.unflatten(0, (self.heads, -1)).tensor_split(self.parts, 1)]

    def join(self, ours: Sequence[Tensor]) -> Tensor:
        return torch.cat([part.unflatten(0, (self.heads, -1)) for part in ours], 1).flatten(0, 1)
