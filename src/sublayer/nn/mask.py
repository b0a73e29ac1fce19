"""Which keys each query may see, and how strongly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sublayer.errors import ShapeError

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

    A query that may see nothing gets a zero row, never NaN and never a uniform one.
    """

    keep: Tensor | None = None
    causal: bool = False
    window: int | None = None
    documents: Tensor | None = None
    bias: Tensor | None = None

    def __post_init__(self) -> None:
        if self.keep is not None and (self.keep.dtype != torch.bool or self.keep.dim() != 4):
            raise ShapeError(
                f"Mask(keep=…) got {_kind(self.keep)}, expected bool of shape (batch, heads, queries, keys). "
                "Write Mask.padding(keep) for (batch, keys), or Mask.of(mask) for a tutorial's mask."
            )
        if self.window is not None and self.window < 0:
            raise ShapeError(f"Mask(window={self.window}) is negative: write how many positions away may be seen.")

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
    def of(cls, mask: Mask | Tensor | None) -> Mask | None:
        """Read what the tutorials pass, one rule a rank: (B, S), (B|1, T|1, S) or (B|1, H|1, T|1, S).

        Bool and 0/1 integers say what may be seen; floats must be 0 (seen) and -inf (hidden).
        """
        if mask is None or isinstance(mask, Mask):
            return mask
        keep = _as_bool(mask)
        if keep.dim() == 2:
            return cls.padding(keep)
        if keep.dim() == 3:
            return cls(keep=keep[:, None])
        if keep.dim() == 4:
            return cls(keep=keep)
        raise ShapeError(f"mask has shape {tuple(mask.shape)}. {_RULE}")

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
        )

    def select(self, rows: Tensor) -> Mask:
        """The same mask for these rows of the batch."""
        return replace(
            self,
            keep=_rows(self.keep, rows),
            documents=_rows(self.documents, rows),
            bias=_rows(self.bias, rows),
        )

    def check(self, batch: int, heads: int, queries: int, keys: int) -> None:
        """ShapeError unless every part fits scores of this shape: one sample's mask never serves another."""
        scores = (batch, heads, queries, keys)
        documents = None if self.documents is None else self.documents[:, None, None]
        for name, part in (("mask", self.keep), ("mask.bias", self.bias), ("mask.documents", documents)):
            if part is None:
                continue
            fits = all(have in (1, want) for have, want in zip(part.shape, scores, strict=True))
            if not fits or part.size(-1) != keys:
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
        if self.documents is not None:
            same = self.documents[:, -queries:, None] == self.documents[:, None, :]
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
        if self.documents is not None:
            starts = self.documents.diff(dim=1, prepend=self.documents[:, :1] - 1) != 0
            place = torch.arange(self.documents.size(1), device=starts.device).expand_as(starts)
            return (place - (place * starts).cummax(1).values)[:, -queries:]
        if self.keep is None or self.keep.size(1) != 1 or self.keep.size(2) != 1:
            return None
        return (self.keep[:, 0, 0].cumsum(-1) - 1).clamp(min=0)[:, -queries:]


def _kind(x: Tensor) -> str:
    return f"{str(x.dtype).removeprefix('torch.')} of shape {tuple(x.shape)}"


def _both(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    return b if a is None else a if b is None else a & b


def _rows(x: Tensor | None, rows: Tensor) -> Tensor | None:
    return x if x is None or x.size(0) == 1 else x.index_select(0, rows)


def _as_bool(mask: Tensor) -> Tensor:
    if mask.dtype == torch.bool:
        return mask
    if not mask.is_floating_point():
        if ((mask == 0) | (mask == 1)).all():
            return mask == 1
        raise ShapeError(
            f"mask is {_kind(mask)} with values other than 0 and 1. Write mask.bool(), True = may be seen."
        )
    hidden = torch.isneginf(mask)
    if hidden.any() and (hidden | (mask == 0)).all():
        return ~hidden
    if ((mask == 0) | (mask == 1)).all():
        raise ShapeError(
            f"mask is {_kind(mask)} holding only 0 and 1: is 0 'hidden' or 'nothing added'? "
            "Write mask.bool() if 1 means 'may be seen', or mask == 0 if it was to be added to the scores."
        )
    raise ShapeError(
        f"mask is {_kind(mask)} with values other than 0 and -inf. "
        "To add numbers to the scores write Mask(bias=mask); to hide, pass bool with True = may be seen."
    )
