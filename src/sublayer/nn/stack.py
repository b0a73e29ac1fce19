"""Layers on top of each other."""

from collections.abc import Iterable

from torch import Tensor, nn

from sublayer.errors import ShapeError
from sublayer.nn.cache import DecoderCache, Preallocated
from sublayer.nn.linear import Linear
from sublayer.nn.mask import Mask


class Encoder(nn.Module):
    """Layer after layer, then the norm that a pre-norm stack ends in.

    layers  different, independent or shared on purpose: they are used as they come, never copied
    bias    a position added to the scores of every layer, see `sublayer.nn.bias`

    forward: x (B, T, D) -> (B, T, D).
    """

    def __init__(
        self, layers: Iterable[nn.Module], norm: nn.Module | None = None, *, bias: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = norm
        self.bias = bias

    def forward(self, x: Tensor, mask: Mask | Tensor | None = None) -> Tensor:
        mask = _with_bias(mask, self.bias, x, past=0)
        for layer in self.layers:
            x = layer(x, mask)
        return x if self.norm is None else self.norm(x)


class Decoder(nn.Module):
    """The same with a memory to read and a cache to continue from.

    forward: x (B, T, D), memory (B, S, D) -> (B, T, D). With a cache, x holds only the new positions.
    """

    def __init__(
        self, layers: Iterable[nn.Module], norm: nn.Module | None = None, *, bias: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = norm
        self.bias = bias

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Mask | Tensor | None = None,
        memory_mask: Mask | Tensor | None = None,
        cache: DecoderCache | None = None,
    ) -> Tensor:
        mask = _with_bias(mask, self.bias, x, past=0 if cache is None else cache.length)
        memory_mask = _across(Mask.of(memory_mask))
        for i, layer in enumerate(self.layers):
            x = layer(x, memory, mask, memory_mask, None if cache is None else cache.layers[i])
        return x if self.norm is None else self.norm(x)

    def new_cache(self) -> DecoderCache:
        """An empty one to decode with: sums where self-attention is `Linear`, keys and values elsewhere."""
        kernels = (getattr(getattr(layer, "self_attn", None), "kernel", None) for layer in self.layers)
        return DecoderCache.of(kernel.memory() if isinstance(kernel, Linear) else Preallocated() for kernel in kernels)


def _with_bias(mask: Mask | Tensor | None, bias: nn.Module | None, x: Tensor, past: int) -> Mask | None:
    mask = Mask.of(mask)
    if bias is None:
        return mask
    return Mask(bias=bias(x.size(1), past + x.size(1), x.device)) & mask


def _across(mask: Mask | None) -> Mask | None:
    if mask is not None and mask.documents is not None and mask.query_documents is None:
        raise ShapeError(
            "memory_mask has documents of the memory and not of what reads it. "
            "Write source_mask.seen_from(target_mask), or set query_documents."
        )
    return mask
