"""Which keys each query may see, and how strongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from sublayer.errors import ShapeError
from sublayer.nn.documents import Run, numbered, restarts, runs
from sublayer.nn.polarity import as_bool, kind_of

_RULE = (
    "A 2-D mask is read as (batch, keys), a 3-D one as (batch, queries, keys), "
    "a 4-D one as (batch, heads, queries, keys). "
    "For a causal (queries, keys) mask write Mask(causal=True) or mask[None]; "
    "for one mask a head write Mask(keep=mask[None])."
)


@dataclass(frozen=True, eq=False)
class Mask:
    """A description of what may be seen. True means *may be seen*, everywhere.

    keep       bool, broadcasts to (B, H, T, S): batch, heads, queries, keys
    causal     a query sees its own position and those before it; the last query lines up with the last key
    window     a query sees keys at most this many positions away
    documents  (B, S) numbers: a query sees the keys of its own document only (packed rows)
    bias       float, broadcasts to (B, H, T, S), added to the scores that remain (T5, ALiBi)
    query_documents  (B, T) the documents of the queries where these do not stand among the keys (cross-attention)

    A query that may see nothing gets a zero row, never NaN and never a uniform one.
    """

    keep: Tensor | None = None
    causal: bool = False
    window: int | None = None
    documents: Tensor | None = None
    bias: Tensor | None = None
    query_documents: Tensor | None = None

    def __post_init__(self) -> None:
        if self.keep is not None and (self.keep.dtype != torch.bool or self.keep.dim() != 4):
            raise ShapeError(
                f"Mask(keep=…) got {kind_of(self.keep)}, expected bool of shape (batch, heads, queries, keys). "
                "Write Mask.padding(keep) for (batch, keys), or Mask.of(mask) for a tutorial's mask."
            )
        if self.window is not None and self.window < 0:
            raise ShapeError(f"Mask(window={self.window}) is negative: write how many positions away may be seen.")
        if self.query_documents is not None and (self.documents is None or self.causal or self.window is not None):
            raise ShapeError(
                "Mask(query_documents=…) is for queries that read another row, where nothing stands before or after "
                "them: it needs documents=… and takes no causal or window. Queries among the keys need no such thing."
            )

    # -- making one ------------------------------------------------------------------------------------------

    @classmethod
    def padding(cls, keep: Tensor) -> Mask:
        """From (B, S): which keys are real."""
        return cls(keep=keep.bool()[:, None, None, :])

    @classmethod
    def lengths(cls, lengths: Tensor, longest: int | None = None) -> Mask:
        """From (B,): how many keys of each row are real, counted from the left."""
        longest = int(lengths.max()) if longest is None else longest
        return cls.padding(torch.arange(longest, device=lengths.device) < lengths[:, None])

    @classmethod
    def packed(cls, lengths: Sequence[int], device: torch.device | None = None) -> Mask:
        """One row of documents of these lengths, one after the other."""
        return cls(documents=numbered(lengths, device))

    @classmethod
    def of(cls, mask: Mask | Tensor | None) -> Mask | None:
        """Read what the tutorials pass, one rule a rank: (B, S), (B|1, T|1, S) or (B|1, H|1, T|1, S).

        Bool and 0/1 integers say what may be seen; floats must be 0 (seen) and -inf (hidden).
        """
        if mask is None or isinstance(mask, Mask):
            return mask
        keep = as_bool(mask)
        if keep.dim() == 2:
            return cls.padding(keep)
        if keep.dim() == 3:
            return cls(keep=keep[:, None])
        if keep.dim() == 4:
            return cls(keep=keep)
        raise ShapeError(f"mask has shape {tuple(mask.shape)}. {_RULE}")

    # -- packed rows -----------------------------------------------------------------------------------------

    @property
    def asking(self) -> Tensor | None:
        """The documents that the queries stand in, the last query at the end."""
        return self.documents if self.query_documents is None else self.query_documents

    @cached_property
    def runs(self) -> list[Run] | None:
        """Runs of equally long documents, the rows end to end, where one can attend document by document."""
        if self.documents is None or self.asking is None or self.keep is not None or self.bias is not None:
            return None
        return runs(self.asking, self.documents)

    def seen_from(self, queries: Mask | None) -> Mask:
        """What the queries of another row see of these keys: the real ones, of packed rows those of their own document.

        ShapeError where one side is packed and the other is not, or this mask spells pairs of keys.
        """
        if self.keep is not None and self.keep.size(2) > 1:
            raise ShapeError(
                f"src_mask of shape {tuple(self.keep.shape)} spells pairs of source positions and cannot say what the "
                "target may see. Pass cross_mask too: (batch, source) is enough."
            )
        asking = None if queries is None else queries.documents
        if (self.documents is None) != (asking is None):
            raise ShapeError(
                f"The {'target' if asking is None else 'source'} is not packed and the other side is: "
                "give both masks documents, the same numbers in the same order."
            )
        return Mask(keep=self.keep, documents=self.documents, query_documents=asking)

    # -- verbs -----------------------------------------------------------------------------------------------

    def __and__(self, other: Mask | None) -> Mask:
        """What both allow; biases add up."""
        if other is None:
            return self
        if self.documents is not None and other.documents is not None:
            raise ShapeError("Both masks carry documents: give them to one of the two.")
        windows = [w for w in (self.window, other.window) if w is not None]
        return Mask(
            keep=_both(self.keep, other.keep),
            causal=self.causal or other.causal,
            window=min(windows, default=None),
            documents=other.documents if self.documents is None else self.documents,
            bias=self.bias if other.bias is None else other.bias if self.bias is None else self.bias + other.bias,
            query_documents=other.query_documents if self.query_documents is None else self.query_documents,
        )

    def select(self, rows: Tensor) -> Mask:
        """The same mask for these rows of the batch."""
        return replace(
            self,
            keep=_rows(self.keep, rows),
            documents=_rows(self.documents, rows),
            bias=_rows(self.bias, rows),
            query_documents=_rows(self.query_documents, rows),
        )

    def check(self, batch: int, heads: int, queries: int, keys: int) -> None:
        """ShapeError unless every part fits scores of this shape: one sample's mask never serves another."""
        scores = (batch, heads, queries, keys)
        held = None if self.documents is None else self.documents[:, None, None]
        read = None if self.query_documents is None else self.query_documents[:, None, :, None]
        parts = (("mask", self.keep), ("mask.bias", self.bias), ("mask.documents", held))
        for name, part, axis in (*((*part, 3) for part in parts), ("mask.query_documents", read, 2)):
            if part is None:
                continue
            fits = all(have in (1, want) for have, want in zip(part.shape, scores, strict=True))
            if not fits or part.size(axis) != scores[axis]:
                raise ShapeError(
                    f"{name} has shape {tuple(part.shape)} and the scores are {scores} "
                    f"= (batch, heads, queries, keys). {_RULE}"
                )

    def visible(self, queries: int, keys: int, device: torch.device | None = None) -> Tensor | None:
        """Bool, broadcasts to (B, H, queries, keys); None when everything may be seen."""
        seen = self.keep
        if self.window is not None or (self.causal and queries > 1):
            here = torch.arange(keys - queries, keys, device=device)[:, None]
            distance = here - torch.arange(keys, device=device)
            if self.causal:
                seen = _both(seen, (distance >= 0)[None, None])
            if self.window is not None:
                seen = _both(seen, (distance.abs() <= self.window)[None, None])
        if self.documents is not None and self.asking is not None:
            same = self.asking[:, -queries:, None] == self.documents[:, None, :]
            seen = _both(seen, same[:, None])
        return seen

    def as_bias(self, dtype: torch.dtype) -> Mask:
        """The same said in numbers where `keep` alone says it: -inf is added to the scores of what is hidden."""
        if self.keep is None or self.bias is not None:
            return self
        bias = torch.zeros_like(self.keep, dtype=dtype).masked_fill(~self.keep, -torch.inf)
        return replace(self, keep=None, bias=bias)

    def clean(self, x: Tensor) -> Tensor:
        """Zero the rows of x (B, S, D) that no query may see: not even a NaN in them reaches a kept one."""
        if self.keep is None:
            return x
        seen = self.keep[:, 0, 0] if self.keep.size(1) == self.keep.size(2) == 1 else self.keep.any(2).any(1)
        if seen.size(0) not in (1, x.size(0)) or seen.size(1) < x.size(1):
            return x  # a mask of another batch: `check` says so
        return x.masked_fill(~seen[:, -x.size(1) :, None], 0.0)

    def positions(self, queries: int) -> Tensor | None:
        """(B, queries) positions that count real tokens from 0, whatever the padding side, and restart with each
        document; None when they are simply 0, 1, 2, …"""
        if self.asking is not None:
            return restarts(self.asking)[:, -queries:]
        if self.keep is None or self.keep.size(1) != 1 or self.keep.size(2) != 1:
            return None
        return (self.keep[:, 0, 0].cumsum(-1) - 1).clamp(min=0)[:, -queries:]


def _both(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    return b if a is None else a if b is None else a & b


def _rows(x: Tensor | None, rows: Tensor) -> Tensor | None:
    return x if x is None or x.size(0) == 1 else x.index_select(0, rows)
