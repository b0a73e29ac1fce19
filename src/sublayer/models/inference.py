"""The inference form of a model: a copy whose parts are exchanged for faster ones that compute the same numbers."""

from __future__ import annotations

import copy
import functools
from typing import Any, Self

import torch
from torch import nn

from sublayer.nn import DecoderLayer, EncoderLayer, MultiHeadAttention, PackedAttention


class ForInference(nn.Module):
    """What every model can do: give its inference form."""

    def for_inference(self, dtype: torch.dtype | None = None) -> Self:
        """A copy in eval mode that only reads; the model itself stays as it is.

        One product gives queries, keys and values, weights lie as a CPU multiplies a few rows fastest, and modules
        call each other's `forward` directly, save those that have hooks. Its parameters have other names, so it
        cannot be saved.

        dtype  of the copy's floating-point weights, the model's own by default
        """
        prepared = copy.deepcopy(self).eval()
        for layer in prepared.modules():
            if type(layer) in (EncoderLayer, DecoderLayer) and type(layer.self_attn) is MultiHeadAttention:
                layer.self_attn = PackedAttention(layer.self_attn)
        prepared = prepared.to(dtype=dtype).requires_grad_(False)
        _lay_out(prepared)
        for part in prepared.modules():
            _call_directly(part)
        return prepared


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
