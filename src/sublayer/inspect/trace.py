"""What runs through a model: shapes, parameters, operations."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode
from torch.utils.hooks import RemovableHandle

from sublayer.inspect.attention import kernels
from sublayer.models.store import plain, tied
from sublayer.nn import (
    BagEmbeddings,
    Decoder,
    Eager,
    Embeddings,
    Encoder,
    FeatureEmbeddings,
    FeedForward,
    Fused,
    GatedFeedForward,
    Local,
    Mask,
    MultiHeadAttention,
)
from sublayer.nn.kernel import Kernel


class Row(NamedTuple):
    """One tensor on its way through the model: the module it belongs to, what it is, its shape."""

    name: str
    what: str
    shape: tuple[int, ...]


class Parameters(NamedTuple):
    """Tied weights count once, in the part that comes first.

    tied   names of one and the same tensor, a list a tensor
    parts  parameters of each of the model's direct children
    """

    total: int
    tied: list[list[str]]
    parts: dict[str, int]


def shapes(model: nn.Module, *inputs: Any) -> list[Row]:
    """The shapes of one forward pass, in the order in which the tensors come to be.

    embedding (B, T, D); q (B, H, T, d_k), k and v (B, G, S, d), scores (B, H, T, S), heads merged
    (B, T, H · d_v); hidden (B, T, F); output of attention, feed-forward network, stack and model.
    """
    rows: list[Row] = []
    with (
        _watched(model, lambda name, what, shape: rows.append(Row(name, what, tuple(shape)))),
        torch.no_grad(),
    ):
        model(*inputs)
    return rows


def parameters(model: nn.Module) -> Parameters:
    parts: dict[str, int] = {}
    for name, parameter in model.named_parameters():  # a tied one comes once
        part = plain(name).partition(".")[0]
        parts[part] = parts.get(part, 0) + parameter.numel()
    return Parameters(sum(parts.values()), [names for names in tied(model) if len(names) > 1], parts)


def flops(model: nn.Module, *inputs: Any) -> int:
    """Floating-point operations of the matrix products in one forward pass; a multiplication and an addition
    are two. Attention counts as the formula has it, every score computed, whatever a fused
    kernel would skip; `Local` attention has the scores of its blocks.
    """
    attentions = [m for m in model.modules() if isinstance(m, MultiHeadAttention)]
    fused = {m: _spelled_out(m.kernel) for m in attentions if type(m.kernel) in (Fused, Local)}
    counter = FlopCounterMode(display=False)
    with kernels(fused), counter, torch.no_grad():
        model(*inputs)
    return int(counter.get_total_flops())


def _spelled_out(kernel: Kernel) -> Kernel:
    if not isinstance(kernel, Local):
        return Eager()
    local = copy(kernel)
    local.kernel = Eager()
    return local


Note = Callable[[str, str, torch.Size], None]

_INPUT: dict[type[nn.Module], tuple[str, str]] = {
    MultiHeadAttention: ("out_proj", "heads merged"),
    FeedForward: ("down", "hidden"),
    GatedFeedForward: ("down", "hidden"),
}
_OUTPUT: dict[type[nn.Module], str] = {
    **dict.fromkeys((BagEmbeddings, Embeddings, FeatureEmbeddings), "embedding"),
    **dict.fromkeys((MultiHeadAttention, FeedForward, GatedFeedForward, Encoder, Decoder), "output"),
}


@contextmanager
def _watched(model: nn.Module, note: Note) -> Iterator[None]:
    """Hooks and kernels that note shapes, gone when the `with` ends."""
    hooks: list[RemovableHandle] = []
    spies: dict[MultiHeadAttention, Kernel] = {}
    for path, module in model.named_modules():
        name = path or type(module).__name__
        if type(module) in _INPUT:
            child, what = _INPUT[type(module)]
            into = module.get_submodule(child)
            hooks.append(into.register_forward_pre_hook(partial(_note_input, note, name, what)))
        if type(module) in _OUTPUT or module is model:
            what = _OUTPUT.get(type(module), "output")
            hooks.append(module.register_forward_hook(partial(_note_output, note, name, what)))
        if isinstance(module, MultiHeadAttention):
            spies[module] = _Spy(module.kernel, partial(note, name))
    try:
        with kernels(spies):
            yield
    finally:
        for hook in hooks:
            hook.remove()


def _note_input(note: Note, name: str, what: str, module: nn.Module, args: tuple[Any, ...]) -> None:
    note(name, what, args[0].shape)


def _note_output(note: Note, name: str, what: str, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
    if isinstance(output, Tensor):
        note(name, what, output.shape)


class _Spy:
    """The attention's own kernel, which tells what it was called with."""

    def __init__(self, kernel: Kernel, note: Callable[[str, torch.Size], None]) -> None:
        self.kernel, self.note = kernel, note

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, *, scale: float | None, dropout: float
    ) -> Tensor:
        for what, x in (("q", q), ("k", k), ("v", v)):
            self.note(what, x.shape)
        self.note("scores", torch.Size((*q.shape[:3], k.size(-2))))
        return self.kernel(q, k, v, mask, scale=scale, dropout=dropout)
