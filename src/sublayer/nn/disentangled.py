"""Disentangled attention: content and distance as vectors of their own, which meet in the scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor, nn

from sublayer.errors import ConfigError, ShapeError
from sublayer.nn.attention import MultiHeadAttention
from sublayer.nn.cache import Cache
from sublayer.nn.dropout import Dropout
from sublayer.nn.kernel import run_by_run, runs_of
from sublayer.nn.mask import Mask
from sublayer.nn.stack import Encoder

TERMS = ("c2p", "p2c")
SAID = tuple(field.name for field in fields(Mask))


@dataclass(frozen=True, eq=False)
class RelativeMask(Mask):
    """A mask that also says what vector stands for the way from a key to a query.

    table  (2k, D) a vector each distance
    index  (T, S) the row of the table for each query and key; T = S is the longest text
    """

    table: Tensor | None = None
    index: Tensor | None = None


class RelativePositions(nn.Module):
    """Vectors for the distances i - j from -k to k - 1, shared by a stack; those further away have the last ones.
    He et al. 2021, equation 3.

    max_distance  k, where there are no buckets
    buckets       k with buckets: distances below half of it are exact, the rest grow logarithmically up to
                  max_distance (DeBERTa v2)
    norm          on the vectors, None for none

    forward: x (B, T, D) and its mask -> `RelativeMask`.
    """

    def __init__(
        self,
        d_model: int,
        max_distance: int = 512,
        *,
        buckets: int | None = None,
        norm: nn.Module | None = None,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        if buckets is not None and (buckets < 4 or max_distance - 1 <= buckets // 2):
            raise ConfigError(
                f"buckets={buckets} and max_distance={max_distance}: choose 4 buckets or more and a max_distance well "
                "above half of them."
            )
        self.max_distance, self.buckets = max_distance, buckets
        self.table = nn.Embedding(2 * self.span, d_model)
        self.norm = norm
        self.dropout = Dropout(dropout)

    @property
    def span(self) -> int:
        """k."""
        return self.max_distance if self.buckets is None else self.buckets

    def bucket(self, distance: Tensor) -> Tensor:
        """Signed and not yet held within the span."""
        if self.buckets is None:
            return distance
        exact, size = self.buckets // 2, distance.abs()
        growth = torch.log(size.clamp(min=exact) / exact) / torch.log(torch.tensor((self.max_distance - 1) / exact))
        far = (torch.ceil(growth * (exact - 1)) + exact).long() * distance.sign()
        return torch.where(size <= exact, distance, far)

    def forward(self, x: Tensor, mask: Mask | None) -> RelativeMask:
        longest = x.size(1)
        if mask is not None and (runs := runs_of(mask, x.size(0), longest)):
            longest = max(run.queries for run in runs)
        place = torch.arange(longest, device=x.device)
        index = self.bucket(place[:, None] - place)
        # Only as much of the table as these distances reach; compiled code has lengths that it does not know yet.
        span = self.span if torch.compiler.is_compiling() else min(int(index[-1, 0]) + 1, self.span)
        near = self.table.weight[self.span - span : self.span + span]
        table = self.dropout(near if self.norm is None else self.norm(near))
        said = _parts(Mask() if mask is None else mask)
        return RelativeMask(**said, table=table, index=(index + span).clamp(0, 2 * span - 1))


class DisentangledAttention(MultiHeadAttention):
    """Self-attention with scores (Q Kᵀ + Q K_rᵀ + Q_r Kᵀ) / √(3 d_k), where K_r and Q_r are maps of the vector for each
    distance. He et al. 2021, equation 4. Its stack is a `DisentangledEncoder`, which brings the vectors in the mask.

    terms     "c2p", content to position: Q K_rᵀ; "p2c", position to content: Q_r Kᵀ; with one of them, √(2 d_k)
    shared    K_r and Q_r by the maps of content; else each by its own
    key_bias  of the maps to K and K_r; as bias by default

    Other options are those of `MultiHeadAttention`. forward: query = key = value (B, T, D) -> (B, T, D).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        terms: Collection[str] = TERMS,
        shared: bool = False,
        bias: bool = True,
        key_bias: bool | None = None,
        scale: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(d_model, num_heads, bias=bias, **options)
        if not terms or not set(terms) <= set(TERMS) or self.num_kv_heads != num_heads:
            raise ConfigError(
                f"terms={list(terms)} and num_kv_heads={self.num_kv_heads}: disentangled attention has the terms "
                f"{' and '.join(TERMS)}, one or both, and keys and values for each of its {num_heads} heads."
            )
        self.scale = (self.d_k * (1 + len(terms))) ** -0.5 if scale is None else scale
        key_bias = bias if key_bias is None else key_bias
        width = num_heads * self.d_k
        self.k_proj = nn.Linear(d_model, width, bias=key_bias)
        self.terms, own = tuple(terms), () if shared else terms
        self.shared = shared
        self.k_relative = nn.Linear(d_model, width, bias=key_bias) if "c2p" in own else None
        self.q_relative = nn.Linear(d_model, width, bias=bias) if "p2c" in own else None

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, cache: Cache | None) -> Tensor:
        if not isinstance(mask, RelativeMask) or mask.table is None or q.size(2) != k.size(2):
            raise ShapeError(
                "DisentangledAttention has no vectors for its distances: it is self-attention in a "
                "DisentangledEncoder(layers, positions=RelativePositions(d_model))."
            )
        mask.check(q.size(0), q.size(1), q.size(2), k.size(-2))
        keys, queries = self.relative(mask.table)
        dropout = self.dropout if self.training else 0.0
        inside = Mask(**_parts(mask))

        def within(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            bias = Mask(bias=self._bias(q, k, keys, queries, mask))
            return self.kernel(q, k, v, bias & inside, scale=self.scale, dropout=dropout)

        if runs := runs_of(mask, q.size(0), q.size(2)):
            inside = replace(inside, documents=None)
            heads = run_by_run(within, q, k, v, runs)
        else:
            heads = within(q, k, v)
        return self.out_proj(heads.transpose(1, 2).flatten(2))

    def relative(self, table: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """K_r and Q_r, each (1, H, 2k, d_k), or None for a term that there is not."""
        maps = (self.k_proj, self.q_proj) if self.shared else (self.k_relative, self.q_relative)
        keys, queries = (
            None if part is None or term not in self.terms else self._split(part(table[None]), self.num_heads)
            for term, part in zip(TERMS, maps, strict=True)
        )
        return keys, queries

    def _bias(self, q: Tensor, k: Tensor, keys: Tensor | None, queries: Tensor | None, mask: RelativeMask) -> Tensor:
        """(B, H, T, T): the terms beside Q Kᵀ, scaled."""
        assert mask.index is not None and self.scale is not None
        index = mask.index[: q.size(2), : q.size(2)].expand(*q.shape[:2], -1, -1)
        terms = []
        if keys is not None:
            terms.append((q * self.scale @ keys.mT).gather(-1, index))
        if queries is not None:
            terms.append((k @ (queries * self.scale).mT).gather(-1, index.mT).mT)
        return terms[0] if len(terms) == 1 else terms[0] + terms[1]


class DisentangledEncoder(Encoder):
    """A stack whose layers' `DisentangledAttention` share one table of distances.

    forward: x (B, T, D) -> (B, T, D).
    """

    def __init__(
        self, layers: Iterable[nn.Module], norm: nn.Module | None = None, *, positions: RelativePositions
    ) -> None:
        super().__init__(layers, norm)
        self.positions = positions

    def forward(self, x: Tensor, mask: Mask | Tensor | None = None) -> Tensor:
        return super().forward(x, self.positions(x, Mask.of(mask)))


def _parts(mask: Mask) -> dict[str, Any]:
    return {name: getattr(mask, name) for name in SAID}
