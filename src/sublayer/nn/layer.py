"""Encoder and decoder layers, put together from the parts that are passed in."""

from functools import partial

from torch import Tensor, nn

from sublayer.nn.cache import LayerCache
from sublayer.nn.connection import Connect, SublayerConnection
from sublayer.nn.mask import Mask


class EncoderLayer(nn.Module):
    """x = connect(x, self-attention); x = connect(x, feed-forward). Vaswani et al. 2017, section 3.1.

    self_attn  any module called as self_attn(query, key, value, mask=mask)
    ffn        any module called as ffn(x)
    connect    the residual step, a factory (d_model, dropout) -> module called as step(x, sublayer)

    forward: x (B, T, D) -> (B, T, D). The mask goes to self_attn untouched.
    """

    def __init__(
        self,
        d_model: int,
        self_attn: nn.Module,
        ffn: nn.Module,
        dropout: float = 0.1,
        *,
        connect: Connect = SublayerConnection,
    ) -> None:
        super().__init__()
        self.self_attn = self_attn
        self.ffn = ffn
        self.sublayer_attn = connect(d_model, dropout)
        self.sublayer_ffn = connect(d_model, dropout)

    def forward(self, x: Tensor, mask: Mask | Tensor | None = None) -> Tensor:
        x = self.sublayer_attn(x, lambda x_norm: self.self_attn(x_norm, x_norm, x_norm, mask=mask))
        return self.sublayer_ffn(x, self.ffn)


class DecoderLayer(nn.Module):
    """x = connect(x, self-attention); x = connect(x, cross-attention to memory); x = connect(x, feed-forward).

    Without cross_attn it is the layer of a language model. A cache reaches the attentions only when there is one,
    so an attention that knows none fits too.

    forward: x (B, T, D), memory (B, S, D) -> (B, T, D).
    """

    def __init__(
        self,
        d_model: int,
        self_attn: nn.Module,
        ffn: nn.Module,
        dropout: float = 0.1,
        *,
        cross_attn: nn.Module | None = None,
        connect: Connect = SublayerConnection,
    ) -> None:
        super().__init__()
        self.self_attn = self_attn
        self.cross_attn = cross_attn
        self.ffn = ffn
        self.sublayer_attn = connect(d_model, dropout)
        self.sublayer_cross = None if cross_attn is None else connect(d_model, dropout)
        self.sublayer_ffn = connect(d_model, dropout)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Mask | Tensor | None = None,
        memory_mask: Mask | Tensor | None = None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        past = {} if cache is None else {"cache": cache.self_attn}
        x = self.sublayer_attn(x, lambda x_norm: self.self_attn(x_norm, x_norm, x_norm, mask=mask, **past))
        if self.cross_attn is not None and self.sublayer_cross is not None:
            look = partial(_look, self.cross_attn, memory=memory, mask=memory_mask, cache=cache)
            x = self.sublayer_cross(x, look)
        return self.sublayer_ffn(x, self.ffn)


def _look(
    cross_attn: nn.Module, x: Tensor, memory: Tensor | None, mask: Mask | Tensor | None, cache: LayerCache | None
) -> Tensor:
    """Rows that read the same memory ask it together, as queries of one row: (B·R, T, D) is asked as (B, R·T, D)."""
    if cache is None or cache.readers == 1:
        past = {} if cache is None else {"cache": cache.cross_attn}
        read: Tensor = cross_attn(x, memory, memory, mask=mask, **past)
        return read
    asking = x.reshape(-1, cache.readers * x.size(1), x.size(2))
    read = cross_attn(asking, memory, memory, mask=mask, cache=cache.cross_attn)
    return read.reshape(x.shape)
