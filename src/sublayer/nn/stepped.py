"""What a step of one token takes where it counts: a decoder layer spelled out, positions looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.nn.attention import MultiHeadAttention
from sublayer.nn.cache import KeyValue, LayerCache, Preallocated
from sublayer.nn.connection import SublayerConnection
from sublayer.nn.feedforward import FeedForward, GatedFeedForward
from sublayer.nn.kernel import Fused
from sublayer.nn.layer import DecoderLayer
from sublayer.nn.mask import Mask
from sublayer.nn.packed import PackedAttention


class SteppedLayer(DecoderLayer):
    """`DecoderLayer` for inference: the same numbers. Where one new token a row meets a cache, as in every step of a
    search but the first, its parts' weights are used directly: the calls between the parts take longer than a small
    model's arithmetic.

    layer  where the parts come from, see `stepped`
    """

    self_attn: Any
    cross_attn: Any

    def __init__(self, layer: DecoderLayer) -> None:
        nn.Module.__init__(self)
        self.self_attn, self.cross_attn, self.ffn = layer.self_attn, layer.cross_attn, layer.ffn
        self.sublayer_attn, self.sublayer_cross = layer.sublayer_attn, layer.sublayer_cross
        self.sublayer_ffn = layer.sublayer_ffn

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Mask | Tensor | None = None,
        memory_mask: Mask | Tensor | None = None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        if x.size(1) > 1 or not self._steps(mask, memory_mask, cache):
            return super().forward(x, memory, mask, memory_mask, cache)
        y = _residual(self.sublayer_attn, x[:, 0], self._write, mask, cache)
        if self.cross_attn is not None:
            y = _residual(self.sublayer_cross, y, self._read, memory_mask, cache)
        return _residual(self.sublayer_ffn, y, self.ffn)[:, None]

    def _steps(self, mask: Any, memory_mask: Any, cache: LayerCache | None) -> bool:
        """Whether all is as a search has it: a filled cache, the fused kernel, masks that say no more than biases."""
        if cache is None or type(cache.self_attn) is not Preallocated or not _usual(self.self_attn, mask):
            return False
        return self.cross_attn is None or (cache.cross_attn.length > 0 and _usual(self.cross_attn, memory_mask))

    def _write(self, x: Tensor, mask: Mask | None, cache: Any) -> Tensor:
        """Self-attention of (N, D)."""
        attn, memory, n = self.self_attn, cache.self_attn, x.size(0)
        query, key, value = attn.widths
        heads, v = attn.in_proj(x).split_with_sizes((query + key, value), 1)
        heads, v = heads.view(n, -1, 1, attn.d_k), v.view(n, -1, 1, attn.d_v)
        if attn.rotate is not None:
            heads = attn.rotate(heads, memory.length)
        q, k = heads.split_with_sizes((attn.num_heads, attn.num_kv_heads), 1)
        return _attend(attn, q, memory.append(KeyValue(k, v)), mask, n)

    def _read(self, x: Tensor, mask: Mask | None, cache: Any) -> Tensor:
        """Cross-attention of (N, D). Rows that read the same memory ask it together."""
        attn = self.cross_attn
        q = attn.q_proj(x).view(-1, cache.readers, attn.num_heads, attn.d_k).transpose(1, 2)
        return _attend(attn, q, cache.cross_attn.kv, mask, x.size(0))


def stepped(layer: nn.Module) -> nn.Module:
    """The layer's `SteppedLayer`, or the layer itself where it has parts of other kinds."""
    kinds = {
        "self_attn": (PackedAttention,),
        "cross_attn": (MultiHeadAttention,),
        "ffn": (FeedForward, GatedFeedForward),
        "sublayer_attn": (SublayerConnection,),
        "sublayer_cross": (SublayerConnection,),
        "sublayer_ffn": (SublayerConnection,),
    }
    usual = type(layer) is DecoderLayer and all(type(part) in kinds[name] for name, part in layer.named_children())
    turned = getattr(getattr(layer, "cross_attn", None), "rotate", None)
    return SteppedLayer(layer) if usual and turned is None else layer  # type: ignore[arg-type]


class Tabled(nn.Module):
    """An added position for inference, computed once for each place and looked up from then on.

    position  called as position(index, end), see `sublayer.nn.position`
    """

    def __init__(self, position: nn.Module) -> None:
        super().__init__()
        self.position = position
        self.table = position(torch.arange(64), 64)

    def forward(self, index: Tensor, end: int) -> Tensor:
        table = self.table  # another thread may exchange it
        if end > table.size(0) or index.device != table.device:
            self.table = table = self.position(torch.arange(2 * end, device=index.device), 2 * end)
        return F.embedding(index, table)


def _usual(attn: MultiHeadAttention, mask: Mask | Tensor | None) -> bool:
    """Causal or not: the one query stands at the end of its row."""
    biases = isinstance(mask, Mask) and mask.keep is None and mask.window is None and mask.documents is None
    return type(attn.kernel) is Fused and (mask is None or biases)


def _residual(connect: Any, x: Tensor, sublayer: Callable[..., Tensor], *given: Any) -> Tensor:
    if connect.norm_first:
        return x + sublayer(connect.norm(x), *given)
    return connect.norm(x + sublayer(x, *given))


def _attend(attn: MultiHeadAttention, q: Tensor, held: KeyValue, mask: Mask | None, rows: int) -> Tensor:
    bias = None if mask is None or mask.bias is None else mask.bias.to(q.dtype)
    shared = attn.num_heads != attn.num_kv_heads
    heads = F.scaled_dot_product_attention(q, *held, bias, scale=attn.scale, enable_gqa=shared)
    return attn.out_proj(heads.transpose(1, 2).reshape(rows, -1))
