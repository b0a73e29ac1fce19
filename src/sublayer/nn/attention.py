"""Multi-head attention."""

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from sublayer.errors import ConfigError
from sublayer.nn.cache import Cache, KeyValue
from sublayer.nn.documents import restarts
from sublayer.nn.kernel import Fused, Kernel
from sublayer.nn.linear import Running
from sublayer.nn.mask import Mask

Rotate = Callable[..., Tensor]
"""rotate(x, start): turns queries or keys (B, H, T, d_k) that stand at positions start, start + 1, …
Of packed rows it is called as rotate(x, start, index) with the position (B, T) of each inside its document."""


class MultiHeadAttention(nn.Module):
    """Concat(head_1, …, head_h) W_o with head_i = attention(Q W_q, K W_k, V W_v). Vaswani et al. 2017, 3.2.2.

    d_k, d_v       width of a head, d_model / num_heads by default
    num_kv_heads   heads that share keys and values, Ainslie et al. 2023; num_heads by default
    out_bias       of W_o; as bias, of W_q, W_k and W_v, by default
    scale          what the scores are multiplied by, 1 / √d_k by default
    rotate         a position that turns queries and keys, `Rotary` for example
    kernel         how attention is computed, see `sublayer.nn.kernel`

    forward: query (B, T, D), key and value (B, S, D) -> (B, T, D).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        d_k: int | None = None,
        d_v: int | None = None,
        num_kv_heads: int | None = None,
        bias: bool = True,
        out_bias: bool | None = None,
        dropout: float = 0.1,
        scale: float | None = None,
        rotate: Rotate | None = None,
        kernel: Kernel | None = None,
    ) -> None:
        super().__init__()
        if (d_k is None or d_v is None) and d_model % num_heads:
            raise ConfigError(
                f"d_model={d_model} does not divide into num_heads={num_heads} equal heads. "
                f"Choose num_heads from {_divisors(d_model)}, or set d_k and d_v to fix the head width yourself."
            )
        groups = num_heads if num_kv_heads is None else num_kv_heads
        if num_heads % groups:
            raise ConfigError(
                f"num_heads={num_heads} is no multiple of num_kv_heads={groups}. "
                f"Choose num_kv_heads from {_divisors(num_heads)}."
            )
        self.num_heads, self.num_kv_heads = num_heads, groups
        self.d_k = d_model // num_heads if d_k is None else d_k
        self.d_v = d_model // num_heads if d_v is None else d_v
        self.q_proj = nn.Linear(d_model, num_heads * self.d_k, bias=bias)
        self.k_proj = nn.Linear(d_model, groups * self.d_k, bias=bias)
        self.v_proj = nn.Linear(d_model, groups * self.d_v, bias=bias)
        self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias=bias if out_bias is None else out_bias)
        self.dropout = dropout
        self.scale = scale
        self.rotate = rotate
        self.kernel = Fused() if kernel is None else kernel

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Mask | Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        mask = Mask.of(mask)
        start = 0 if cache is None else cache.length
        asking = None if mask is None else mask.asking
        q = self._turn(self._split(self.q_proj(query), self.num_heads), start, asking)
        read = partial(self.read, key, value, mask, start)
        k, v = read() if cache is None else cache(read)
        return self.attend(q, k, v, mask, cache)

    def read(self, key: Tensor, value: Tensor, mask: Mask | None = None, start: int = 0) -> KeyValue:
        """What there is to attend to: keys (B, G, S, d_k) and values (B, G, S, d_v)."""
        if mask is not None:
            key, value = self._clean(key, value, mask)
        k, v = self._split(self.k_proj(key), self.num_kv_heads), self._split(self.v_proj(value), self.num_kv_heads)
        return KeyValue(self._turn(k, start, None if mask is None else mask.documents), v)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, cache: Cache | None) -> Tensor:
        """Heads q (B, H, T, d_k), k and v (B, G, S, d) -> (B, T, D). A `Running` cache attends itself."""
        if mask is not None:
            mask.check(q.size(0), q.size(1), q.size(2), k.size(-2) if cache is None else cache.length)
        kernel = cache.attend if isinstance(cache, Running) else self.kernel
        dropout = self.dropout if self.training else 0.0
        heads = kernel(q, k, v, mask, scale=self.scale, dropout=dropout)
        return self.out_proj(heads.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor, heads: int) -> Tensor:
        return x.view(x.size(0), x.size(1), heads, -1).transpose(1, 2)  # (B, S, H·d) -> (B, H, S, d)

    def _turn(self, x: Tensor, start: int, documents: Tensor | None) -> Tensor:
        if self.rotate is None:
            return x
        if documents is None:
            return self.rotate(x, start)
        return self.rotate(x, start, restarts(documents)[:, -x.size(-2) :])

    @staticmethod
    def _clean(key: Tensor, value: Tensor, mask: Mask) -> tuple[Tensor, Tensor]:
        cleaned = mask.clean(key)
        return cleaned, cleaned if value is key else mask.clean(value)


def _divisors(n: int) -> str:
    return ", ".join(str(i) for i in range(1, n + 1) if n % i == 0)
