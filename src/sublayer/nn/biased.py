"""Attention with positions of its own in the scores."""

from torch import Tensor, nn

from sublayer.nn.cache import Cache
from sublayer.nn.mask import Mask


class BiasedAttention(nn.Module):
    """Self-attention under mask & Mask(bias=bias(T, S)): each layer has its own bias, where `Encoder(bias=…)` gives one
    to all. Chung et al. 2023 (UMT5).

    forward: query, key and value (B, T, D) -> (B, T, D).
    """

    def __init__(self, attn: nn.Module, bias: nn.Module) -> None:
        super().__init__()
        self.attn = attn
        self.bias = bias

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Mask | Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        past = {} if cache is None else {"cache": cache}
        start = 0 if cache is None else cache.length
        bias = self.bias(query.size(1), start + query.size(1), query.device)
        return self.attn(query, key, value, mask=Mask(bias=bias) & Mask.of(mask), **past)
