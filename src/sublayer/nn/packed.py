"""Self-attention that asks for its queries, keys and values in one product."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sublayer.errors import ShapeError
from sublayer.nn.attention import MultiHeadAttention
from sublayer.nn.cache import Cache, KeyValue
from sublayer.nn.mask import Mask


class PackedAttention(MultiHeadAttention):
    """[Q K V] = x [W_q W_k W_v], then as `MultiHeadAttention`: the same numbers from fewer and larger products.

    attn  where weights and settings come from; its maps are not used again

    forward: query = key = value (B, T, D) -> (B, T, D). ShapeError for anything but self-attention.
    """

    def __init__(self, attn: MultiHeadAttention) -> None:
        nn.Module.__init__(self)
        self.num_heads, self.num_kv_heads, self.d_k, self.d_v = attn.num_heads, attn.num_kv_heads, attn.d_k, attn.d_v
        self.in_proj = join(attn.q_proj, attn.k_proj, attn.v_proj)
        self.widths = [part.out_features for part in (attn.q_proj, attn.k_proj, attn.v_proj)]
        self.out_proj = attn.out_proj
        self.dropout, self.scale, self.rotate, self.kernel = attn.dropout, attn.scale, attn.rotate, attn.kernel

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Mask | Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        if query is not key or key is not value:
            raise ShapeError("PackedAttention is for self-attention: pass one tensor as query, key and value.")
        mask = Mask.of(mask)
        start = 0 if cache is None else cache.length
        x = query if mask is None else mask.clean(query)
        documents = None if mask is None else mask.documents
        q, k, v = self.in_proj(x).split(self.widths, -1)
        q = self._turn(self._split(q, self.num_heads), start, documents)
        k = self._turn(self._split(k, self.num_kv_heads), start, documents)
        new = KeyValue(k, self._split(v, self.num_kv_heads))
        keys, values = new if cache is None else cache(lambda: new)
        return self.attend(q, keys, values, mask, cache)


def join(*maps: nn.Linear) -> nn.Linear:
    """One map whose output is theirs side by side."""
    joined = nn.Linear(maps[0].in_features, sum(m.out_features for m in maps), bias=maps[0].bias is not None)
    joined.weight = nn.Parameter(torch.cat([m.weight.detach() for m in maps]))
    if maps[0].bias is not None:
        joined.bias = nn.Parameter(torch.cat([m.bias.detach() for m in maps]))
    return joined
