"""Attention weights, taken while the model runs."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.errors import ConfigError, ShapeError, listing, nearest
from sublayer.nn import Eager, Fused, Local, Mask, MultiHeadAttention
from sublayer.nn.kernel import Kernel


class AttentionMaps(Mapping[str, Tensor]):
    """Weights (B, H, T, S) by the name of the attention that computed them, in the model's order.

    A row is a query, a column a key. Rows sum to 1, and hidden entries are exactly 0. The weights are those
    before dropout and carry no gradient.

    Several calls of one attention follow each other along T, as the steps of cached decoding do: row t has
    t + 1 keys, and zeros fill it up to the longest S. So one `with` takes one pass, or one decoding. A search
    reorders the rows of the batch between steps, and nothing here follows them: decode greedily, or run the
    model once over the finished target. A layer that stands in several places has several names; its calls
    are dealt to them in turn.

    calls  name -> the weights of each call as they came
    """

    def __init__(self, names: list[str]) -> None:
        self._calls: dict[str, list[Tensor]] = {name: [] for name in names}

    @property
    def calls(self) -> dict[str, list[Tensor]]:
        return {name: list(calls) for name, calls in self._calls.items() if calls}

    def __getitem__(self, name: str) -> Tensor:
        """KeyError for a name that was not called; ShapeError where its calls had different batches."""
        if name not in self.calls:
            raise KeyError(f"no attention of the name {name!r} was called inside the with. {nearest(name, self.calls)}")
        return _joined(name, self._calls[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    @property
    def encoder(self) -> list[Tensor]:
        """Self-attention of the encoder, (B, H, S, S) a layer."""
        return self._stack("encoder", "self_attn")

    @property
    def decoder(self) -> list[Tensor]:
        """Self-attention of the decoder, (B, H, T, T) a layer."""
        return self._stack("decoder", "self_attn")

    @property
    def cross(self) -> list[Tensor]:
        """What the decoder sees of the encoder, (B, H, T, S) a layer."""
        return self._stack("decoder", "cross_attn")

    def _stack(self, stack: str, part: str) -> list[Tensor]:
        pattern = re.compile(rf"(.*\.)?{stack}\.layers\.\d+\.{part}(\..*)?")  # behind it: what is inside a wrapper
        return [self[name] for name in self if pattern.fullmatch(name)]


@contextmanager
def attention_maps(model: nn.Module) -> Iterator[AttentionMaps]:
    """Record the weights of every `MultiHeadAttention` in the model for the length of the `with`.

    Meanwhile attention is computed as `Eager` does, so outputs are what they were, to rounding. Afterwards
    the model is as before. Its mode is left alone: call model.eval() to run without dropout.

    ConfigError where the model has no such attention, or one with a kernel other than `Eager`, `Fused` and `Local`:
    what that computes need not be this softmax, and its outputs would change.
    """
    found = attentions(model)
    others = [f"{name}: {type(m.kernel).__name__}" for m, (name, *_) in found.items() if not is_exact(m.kernel)]
    if others:
        raise ConfigError(
            listing("Weights are recorded of attention that computes with Eager, Fused or Local, and here are:", others)
        )
    maps = AttentionMaps([name for names in found.values() for name in names])
    with kernels({m: Spelled(m.kernel, _Dealer([maps._calls[name] for name in names])) for m, names in found.items()}):
        yield maps


def attentions(model: nn.Module) -> dict[MultiHeadAttention, list[str]]:
    """Each attention in the model and the names it goes by; ConfigError where there is none."""
    found: dict[MultiHeadAttention, list[str]] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, MultiHeadAttention):
            found.setdefault(module, []).append(name)
    if not found:
        raise ConfigError(
            f"{type(model).__name__} holds no sublayer.nn.MultiHeadAttention, so there is nothing to see."
        )
    return found


@contextmanager
def kernels(replaced: Mapping[MultiHeadAttention, Kernel]) -> Iterator[None]:
    """Let these attentions compute with these kernels for the length of the `with`."""
    before = {module: module.kernel for module in replaced}
    try:
        for module, kernel in replaced.items():
            _put(module, kernel)
        yield
    finally:
        for module, kernel in before.items():
            _put(module, kernel)


def _put(module: MultiHeadAttention, kernel: Kernel) -> None:
    del module.kernel  # a kernel with parameters is registered as a child, which no plain object may replace
    module.kernel = kernel


def is_exact(kernel: Kernel) -> bool:
    """Whether `Spelled` computes what this kernel does."""
    return type(kernel) in (Eager, Fused, Local)  # a subclass may compute something else


class Spelled:
    """`Eager` in the place of an exact kernel. It shows the weights of each call to `see`, and goes on with those that
    `see` gives instead, if any."""

    def __init__(self, kernel: Kernel, see: Callable[[Tensor], Tensor | None]) -> None:
        self.eager = kernel if isinstance(kernel, Eager) else Eager()
        self.near = kernel.near if isinstance(kernel, Local) else None
        self.see = see

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, *, scale: float | None, dropout: float
    ) -> Tensor:
        mask = mask if self.near is None else self.near & mask
        output, weights = self.eager.weigh(q, k, v, mask, scale=scale, dropout=dropout)
        other = self.see(weights)
        if other is None:
            return output
        return F.dropout(other, dropout) @ v.repeat_interleave(q.size(1) // v.size(1), 1)


class _Dealer:
    """Hands the weights of each call to the next of `places`, over and over."""

    def __init__(self, places: list[list[Tensor]]) -> None:
        self.places, self.called = places, 0

    def __call__(self, weights: Tensor) -> None:
        self.places[self.called % len(self.places)].append(weights.detach())
        self.called += 1


def _joined(name: str, calls: list[Tensor]) -> Tensor:
    batches = sorted({call.size(0) for call in calls})
    if len(batches) > 1:
        raise ShapeError(
            f"{name} was called with batches of {' and '.join(map(str, batches))} rows, which cannot follow "
            "each other. Take one pass, or one greedy decoding, in a with; "
            f"or read maps.calls[{name!r}] call by call."
        )
    longest = max(call.size(-1) for call in calls)
    return torch.cat([F.pad(call, (0, longest - call.size(-1))) for call in calls], dim=-2)
