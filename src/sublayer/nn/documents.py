"""Packed rows: several documents in one row, one after the other, without padding.

They are told apart by numbers, one a position: 0 0 0 1 2 2 is three documents of lengths 3, 1 and 2.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor


class Run(NamedTuple):
    """So many documents in a row, each with as many queries and as many keys as the others."""

    documents: int
    queries: int
    keys: int


def numbered(lengths: Sequence[int], device: torch.device | None = None) -> Tensor:
    """(1, N): the numbers of one row of documents of these lengths."""
    repeats = torch.tensor(lengths, dtype=torch.long)
    return torch.arange(len(lengths)).repeat_interleave(repeats)[None].to(device)


def restarts(documents: Tensor) -> Tensor:
    """(B, S): how far into its document each position stands."""
    first = documents.diff(dim=1, prepend=documents[:, :1] - 1) != 0
    place = torch.arange(documents.size(1), device=documents.device).expand_as(first)
    return place - (place * first).cummax(1).values


def runs(queries: Tensor, keys: Tensor) -> list[Run] | None:
    """The documents of (B, T) queries and (B, S) keys, the rows end to end. None unless both sides hold the same
    documents in the same order, each in one piece."""
    asking, held = _lengths(queries), _lengths(keys)
    names = [name for name, _ in asking]
    if names != [name for name, _ in held] or len(set(names)) < len(names):
        return None
    sizes = [(n, m) for (_, n), (_, m) in zip(asking, held, strict=True)]
    return [Run(len(list(alike)), *size) for size, alike in groupby(sizes)]


def _lengths(documents: Tensor) -> list[tuple[tuple[int, float], int]]:
    """((row, number), length) of each piece."""
    rows = enumerate(documents.tolist())
    return [((row, number), len(list(piece))) for row, numbers in rows for number, piece in groupby(numbers)]
