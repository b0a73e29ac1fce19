"""Texts as tensors: padded side by side, or end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sublayer.nn import Mask

Token = int | Sequence[int]  # an id, or a bag of ids


@dataclass(frozen=True, eq=False)
class TextBatch:
    """B texts that an encoder reads.

    ids      (B, T) padded on the right, or (1, N) end to end; of bags (B, T, K) or (1, N, K), filled up with zeros
    lengths  of the texts
    packed   whether they stand end to end
    types    which segment each id is of, shaped as ids; None: all of the first
    """

    ids: Tensor
    lengths: list[int]
    packed: bool
    types: Tensor | None = None

    @classmethod
    def of(
        cls,
        texts: Sequence[Sequence[Token]],
        pad: int,
        *,
        packed: bool = False,
        types: Sequence[Sequence[int]] | None = None,
    ) -> TextBatch:
        """From ids, or bags of ids, with the specials that the encoder reads. Packed texts of the same length belong
        side by side: attention takes them together."""
        if types is not None:
            segments = cls.of(types, 0, packed=packed).ids
            return replace(cls.of(texts, pad, packed=packed), types=segments)
        lengths = [len(text) for text in texts]
        longest = max(lengths)
        deepest = max((len(t) for text in texts for t in text if not isinstance(t, int)), default=0)
        nothing = [pad, *[0] * (deepest - 1)] if deepest else pad
        flat = [[*t, *[0] * (deepest - len(t))] if not isinstance(t, int) else t for text in texts for t in text]
        if packed:
            return cls(torch.tensor([flat]), lengths, True)
        rows, at = [], 0
        for length in lengths:
            rows.append([*flat[at : at + length], *[nothing] * (longest - length)])
            at += length
        return cls(torch.tensor(rows), lengths, False)

    @property
    def tokens(self) -> int:
        return sum(self.lengths)

    @property
    def places(self) -> int:
        return self.ids.size(0) * self.ids.size(1)

    @property
    def filled(self) -> int:
        return self.tokens

    @property
    def mask(self) -> Mask | None:
        """Which tokens see which; None where every one sees all of its row."""
        if self.packed:
            return Mask.packed(self.lengths, self.ids.device)
        if min(self.lengths) == self.ids.size(1):
            return None
        return Mask.lengths(torch.tensor(self.lengths, device=self.ids.device), self.ids.size(1))

    @property
    def inputs(self) -> tuple[Tensor, Mask | None, Tensor | None]:
        """What an encoder is called with."""
        return self.ids, self.mask, self.types

    def to(self, device: torch.device) -> TextBatch:
        return replace(self, ids=self.ids.to(device), types=None if self.types is None else self.types.to(device))
