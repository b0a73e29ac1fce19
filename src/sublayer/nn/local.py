"""Attention to what is near, at a cost that grows with the length and not with its square."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from sublayer.nn.kernel import Fused, Kernel
from sublayer.nn.mask import Mask

BLOCK = 128
"""Queries that are answered together."""


class Local:
    """What `Eager` computes under mask & Mask(window=window), linear in T in time and memory. Beltagy et al. 2020, 3.1.

    Each block of queries meets the keys that it can reach and no others: no (T, S) mask is ever made. Any mask is
    honoured; one that spells pairs, and a bias, are as large as they were passed.

    window  a query sees keys at most this many positions away, on each side, or behind it under a causal mask
    """

    def __init__(self, window: int = 256) -> None:
        self.near = Mask(window=window)
        self.kernel: Kernel = Fused()

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Mask | None = None,
        *,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        mask = self.near & mask
        reach = _reach(mask, q.size(-2), k.size(-2))
        outputs = (
            self.kernel(query, key, value, part, scale=scale, dropout=dropout)
            for query, key, value, part in zip(
                q.split(BLOCK, -2), _slices(k, reach), _slices(v, reach), _parts(mask, reach, q, k), strict=True
            )
        )
        return _joined(outputs, q.size(-2))


def _sides(mask: Mask, queries: int, keys: int) -> tuple[int, int]:
    """How many keys before and after its own place a query can see."""
    assert mask.window is not None
    behind = min(mask.window, max(queries, keys))
    return behind, 0 if mask.causal else behind


def _reach(mask: Mask, queries: int, keys: int) -> list[slice]:
    """The keys that each block of queries can see; the last query stands where the last key does."""
    behind, ahead = _sides(mask, queries, keys)
    starts = range(keys - queries, keys, BLOCK)
    return [slice(max(start - behind, 0), max(min(start + BLOCK + ahead, keys), 0)) for start in starts]


def _parts(mask: Mask, reach: list[slice], q: Tensor, k: Tensor) -> Iterator[Mask]:
    """What each block of queries may see of the keys that it can reach."""
    queries, keys = q.size(-2), k.size(-2)
    behind, ahead = _sides(mask, queries, keys)
    size = min(BLOCK, queries)
    # Query i of a block stands where key i + behind of its band does, and sees keys i … i + behind + ahead.
    near = torch.ones(size, behind + size + ahead, dtype=torch.bool, device=q.device).triu().tril(behind + ahead)
    band = Mask(keep=near[None, None]).as_bias(q.dtype).bias
    assert band is not None
    for first, columns in zip(range(0, queries, BLOCK), reach, strict=True):
        rows = slice(first, min(first + BLOCK, queries))
        start, stop = (row + keys - queries for row in (rows.start, rows.stop))
        left = columns.start - (start - behind)
        bias = band[:, :, : stop - start, left : left + columns.stop - columns.start]
        part = Mask(
            keep=None if mask.keep is None else _part(mask.keep, rows, columns),
            bias=bias if mask.bias is None else bias + _part(mask.bias, rows, columns),
        )
        if mask.documents is not None:
            here, there = mask.documents[:, None, start:stop, None], mask.documents[:, None, None, columns]
            part = part & Mask(keep=here == there)
        yield part


def _part(x: Tensor, rows: slice, columns: slice) -> Tensor:
    """What x, that broadcasts to (B, H, T, S), says of these queries and keys."""
    everything = slice(None)
    return x[:, :, rows if x.size(2) > 1 else everything, columns if x.size(3) > 1 else everything]


def _slices(x: Tensor, slices: list[slice]) -> tuple[Tensor, ...]:
    cut: tuple[Tensor, ...] = _Slices.apply(x, slices)
    return cut


class _Slices(torch.autograd.Function):
    """x[..., part, :] for each part. Sliced one by one, each would bring a gradient as long as x: T² in all."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, parts: list[slice]) -> tuple[Tensor, ...]:
        ctx.shape, ctx.parts = x.shape, parts
        return tuple(x[..., part, :] for part in parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        total = gradients[0].new_zeros(ctx.shape)
        for part, gradient in zip(ctx.parts, gradients, strict=True):
            total[..., part, :] += gradient
        return total, None


def _joined(blocks: Iterator[Tensor], queries: int) -> Tensor:
    """One after another, laid out as (B, T, H, d). Where no gradient is wanted only one block is held at a time."""
    if torch.is_grad_enabled():
        return torch.cat([block.transpose(1, 2) for block in blocks], 1).transpose(1, 2)
    first = next(blocks)
    batch, heads, end, width = first.shape
    output = first.new_empty(batch, queries, heads, width).transpose(1, 2)
    output[..., :end, :] = first
    for block in blocks:
        start, end = end, end + block.size(-2)
        output[..., start:end, :] = block
    return output
