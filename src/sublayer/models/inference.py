"""The inference form of a model: a copy whose parts are exchanged for faster ones that compute the same numbers."""

from __future__ import annotations

import copy
import functools
from typing import Any, Literal, Self

import torch
from torch import nn

from sublayer.errors import ConfigError
from sublayer.nn import (
    Decoder,
    DecoderLayer,
    Embeddings,
    EncoderLayer,
    Int8Linear,
    MultiHeadAttention,
    PackedAttention,
    Sinusoidal,
    Tabled,
    stepped,
)

LARGE = 2**20  # weights


class ForInference(nn.Module):
    """What every model can do: give its inference form."""

    def for_inference(self, dtype: torch.dtype | None = None, quantize: Literal["int8"] | None = None) -> Self:
        """A copy in eval mode that only reads; the model itself stays as it is.

        One product gives queries, keys and values, weights lie as a CPU multiplies a few rows fastest, decoder layers
        write one token in a step of their own, sinusoids are looked up, and modules call each other's `forward`
        directly, save those that have hooks. Its parameters have other names, so it cannot be saved.

        dtype     of the copy's floating-point weights, the model's own by default
        quantize  "int8": 8-bit weights for linear maps of at least 2^20 weights, on a CPU; see `Int8Linear`
        """
        if quantize not in (None, "int8"):
            raise ConfigError(f"quantize={quantize!r} is unknown. Write quantize='int8', or leave it out.")
        prepared = copy.deepcopy(self)
        for layer in prepared.modules():
            if type(layer) in (EncoderLayer, DecoderLayer) and type(layer.self_attn) is MultiHeadAttention:
                layer.self_attn = PackedAttention(layer.self_attn)
        for part in prepared.modules():
            if type(part) is Decoder:
                part.layers = nn.ModuleList(stepped(layer) for layer in part.layers)
            elif isinstance(part, Embeddings) and isinstance(part.positions, Sinusoidal):
                part.positions = Tabled(part.positions)
        prepared = prepared.eval().to(dtype=dtype).requires_grad_(False)
        if quantize:
            _quantize(prepared)
        _lay_out(prepared)
        for part in prepared.modules():
            _call_directly(part)
        return prepared


def _quantize(model: nn.Module) -> None:
    """Large maps alone. On a Xeon with AVX-512 and without VNNI, one with 2^20 weights takes equally long for one row,
    0.9 of the time for 5 and 0.6 for 64; one with 2^21, the output map of 256 x 8,000, 0.7, 0.3 and 0.9. One with 2^18
    takes up to four times as long: a call alone costs as much as all its arithmetic."""
    for part in list(model.modules()):
        for name, inner in part.named_children():
            if type(inner) is nn.Linear and inner.weight.numel() >= LARGE:
                setattr(part, name, Int8Linear(inner))


def _lay_out(model: nn.Module) -> None:
    """Lay the weights of maps out by columns. One that was tied to an embedding, whose rows are read, has its own then.

    A CPU multiplies a few rows with them, as decoding does, up to four times faster. Without AVX-512 narrowing maps
    are faster as they are.
    """
    narrowing_too = torch.backends.cpu.get_cpu_capability() == "AVX512"
    for part in model.modules():
        if isinstance(part, nn.Linear) and (narrowing_too or part.out_features >= part.in_features):
            part.weight = nn.Parameter(part.weight.detach().t().contiguous().t(), requires_grad=False)


def _call_directly(part: nn.Module) -> None:
    """Parts and parameters as plain attributes, and a call that is `forward`: torch's own ways to both take longer
    than a small model's arithmetic."""
    part.__dict__.update(part._parameters)
    part.__dict__.update(part._modules)
    if not (part._forward_hooks or part._forward_pre_hooks):
        kind: Any = type(part)
        part.__class__ = _direct(kind)


@functools.cache
def _direct(kind: Any) -> Any:
    return type(kind.__name__, (kind,), {"__call__": kind.forward, "__module__": kind.__module__})
