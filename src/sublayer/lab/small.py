"""Small models to measure and to train."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from sublayer.nn import (
    Embeddings,
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    Mask,
    MultiHeadAttention,
    Sinusoidal,
    SublayerConnection,
    init,
)
from sublayer.nn.norm import NormFactory

M = TypeVar("M", bound=nn.Module)
Make = Callable[[int], nn.Module]

POST_NORM = partial(SublayerConnection, norm_first=False)


def perturb(module: M, size: float = 0.1) -> M:
    """Every parameter moved by a normal of this size: fresh norms are ones and fresh biases zeros, and hide things."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(size * torch.randn_like(parameter))
    return module


class Alone(nn.Module):
    """Attention that each token pays to itself alone: W_o W_v x."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.v_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Mask | Tensor | None = None) -> Tensor:
        return self.out_proj(self.v_proj(value))


class NoFeedForward(nn.Module):
    """Adds nothing to the stream."""

    def __init__(self, d_model: int) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def encoder(
    d_model: int,
    layers: int,
    *,
    attn: Make | None = None,
    ffn: Make | None = None,
    connect: Callable[..., nn.Module] = SublayerConnection,
    norm: NormFactory | None = LayerNorm,
    bias: nn.Module | None = None,
) -> Encoder:
    """A stack without dropout. `norm` is its last one, which a post-norm stack does without."""
    attn = attn or heads(4)
    ffn = ffn or partial(FeedForward, dropout=0.0)
    made = (EncoderLayer(d_model, attn(d_model), ffn(d_model), 0.0, connect=connect) for _ in range(layers))
    return Encoder(list(made), None if norm is None else norm(d_model), bias=bias)


def heads(count: int, **options: Any) -> Make:
    """A factory of attention with so many heads, by width."""
    return partial(MultiHeadAttention, num_heads=count, dropout=0.0, **options)


class Reader(nn.Module):
    """Ids (B, T) -> scores (B, T, C) of a class at each token."""

    def __init__(self, vocab: int, classes: int, d_model: int, body: Encoder, positions: nn.Module | None) -> None:
        super().__init__()
        self.embed = Embeddings(vocab, d_model, positions=positions, dropout=0.0)
        self.body = body
        self.project = nn.Linear(d_model, classes)
        init.scaled(self)

    def forward(self, ids: Tensor, mask: Mask | None = None) -> Tensor:
        return self.project(self.body(self.embed(ids), mask))


def reader(
    vocab: int,
    classes: int,
    d_model: int = 64,
    layers: int = 2,
    *,
    positions: Callable[[int], nn.Module] | None = Sinusoidal,
    **parts: Any,
) -> Reader:
    """`parts` as `encoder` takes them."""
    body = encoder(d_model, layers, **parts)
    return Reader(vocab, classes, d_model, body, None if positions is None else positions(d_model))
