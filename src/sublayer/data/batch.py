"""Pairs as tensors. Padding is known by length, never by token id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

Ids = Sequence[int]


def pad(rows: Sequence[Ids], value: int) -> tuple[Tensor, Tensor]:
    """Token ids (B, longest), filled up with `value` on the right, and lengths (B,)."""
    lengths = [len(row) for row in rows]
    longest = max(lengths)
    filled = [[*row, *[value] * (longest - len(row))] for row in rows]
    return torch.tensor(filled), torch.tensor(lengths)


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Sources and targets of B pairs.

    source          (B, S) ids with EOS
    source_keep     (B, S) which are real; None when all are
    target          (B, T + 1) BOS, ids, EOS
    target_keep     (B, T) which of `target_out` are real
    tokens          how many target tokens there are to predict, EOS counted, padding and BOS not
    source_tokens   how many source tokens there are
    """

    source: Tensor
    source_keep: Tensor | None
    target: Tensor
    target_keep: Tensor
    tokens: int
    source_tokens: int

    @classmethod
    def of(
        cls,
        sources: Sequence[Ids],
        targets: Sequence[Ids],
        *,
        pad_ids: tuple[int, int],
        bos: int,
        eos: tuple[int, int],
    ) -> PairBatch:
        """From token ids without specials; source and target have vocabularies of their own."""
        source, lengths = pad([[*row, eos[0]] for row in sources], pad_ids[0])
        target, ends = pad([[bos, *row, eos[1]] for row in targets], pad_ids[1])
        keep = torch.arange(source.size(1)) < lengths[:, None]
        return cls(
            source=source,
            source_keep=None if keep.all() else keep,
            target=target,
            target_keep=torch.arange(target.size(1) - 1) < ends[:, None] - 1,
            tokens=int(ends.sum()) - len(targets),
            source_tokens=int(lengths.sum()),
        )

    @property
    def places(self) -> int:
        return self.source.numel() + self.target_in.numel()

    @property
    def filled(self) -> int:
        return self.source_tokens + self.tokens

    @property
    def target_in(self) -> Tensor:
        """(B, T): what the decoder reads."""
        return self.target[:, :-1]

    @property
    def target_out(self) -> Tensor:
        """(B, T): what it should say at each of them."""
        return self.target[:, 1:]

    @property
    def labels(self) -> Tensor:
        """(tokens,): what it should say, padding left out."""
        return self.target_out[self.target_keep]

    def to(self, device: torch.device) -> PairBatch:
        return replace(
            self,
            source=self.source.to(device),
            source_keep=None if self.source_keep is None else self.source_keep.to(device),
            target=self.target.to(device),
            target_keep=self.target_keep.to(device),
        )


@dataclass(frozen=True, eq=False)
class PackedPairs:
    """Sources and targets of some pairs, each side one row without padding.

    source          (1, source_tokens) ids, each source with EOS
    target_in       (1, tokens) what the decoder reads: each target with BOS before it
    target_out      (1, tokens) what it should say at each of them: each target with EOS after it
    source_lengths  of each source with EOS
    target_lengths  of each target with EOS
    """

    source: Tensor
    target_in: Tensor
    target_out: Tensor
    source_lengths: list[int]
    target_lengths: list[int]

    @classmethod
    def of(cls, sources: Sequence[Ids], targets: Sequence[Ids], *, bos: int, eos: tuple[int, int]) -> PackedPairs:
        """From token ids without specials, as `PairBatch.of`. Pairs of the same lengths belong side by side: attention
        takes them together."""
        return cls(
            source=_end_to_end([*row, eos[0]] for row in sources),
            target_in=_end_to_end([bos, *row] for row in targets),
            target_out=_end_to_end([*row, eos[1]] for row in targets),
            source_lengths=[len(row) + 1 for row in sources],
            target_lengths=[len(row) + 1 for row in targets],
        )

    @property
    def tokens(self) -> int:
        return self.target_out.numel()

    @property
    def source_tokens(self) -> int:
        return self.source.numel()

    @property
    def places(self) -> int:
        return self.source_tokens + self.tokens

    filled = places

    @property
    def labels(self) -> Tensor:
        """(tokens,): what the decoder should say."""
        return self.target_out[0]

    def to(self, device: torch.device) -> PackedPairs:
        moved = {name: getattr(self, name).to(device) for name in ("source", "target_in", "target_out")}
        return replace(self, **moved)


def _end_to_end(rows: Iterable[Ids]) -> Tensor:
    return torch.tensor([[token for row in rows for token in row]])
