"""Residual steps beside pre-norm and post-norm. Each is a factory (d_model, dropout), passed in as `connect=`."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from sublayer.nn import Dropout, LayerNorm

Sublayer = Callable[[Tensor], Tensor]


class DeepNorm(nn.Module):
    """Norm(α x + f(x)), α = (2N)^¼ for an encoder of N layers. Wang et al. 2022, section 3."""

    def __init__(self, d_model: int, dropout: float = 0.1, *, layers: int) -> None:
        super().__init__()
        self.norm, self.dropout, self.alpha = LayerNorm(d_model), Dropout(dropout), (2 * layers) ** 0.25

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        return self.norm(self.alpha * x + self.dropout(sublayer(x)))


def shrink_for_deepnorm(encoder: nn.Module, layers: int) -> None:
    """β = (8N)^-¼ on the feed-forward network and on what makes values: the start that belongs to `DeepNorm`."""
    names = ("v_proj.weight", "out_proj.weight", "up.weight", "down.weight")
    with torch.no_grad():
        for name, parameter in encoder.named_parameters():
            if name.endswith(names):
                parameter.mul_((8 * layers) ** -0.25)


class Sandwich(nn.Module):
    """x + Norm(f(Norm(x))). Ding et al. 2021, section 2.4."""

    def __init__(self, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm, self.after, self.dropout = LayerNorm(d_model), LayerNorm(d_model), Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        return x + self.dropout(self.after(sublayer(self.norm(x))))


class NoResidual(nn.Module):
    """f(Norm(x)): the way around the sublayer is closed."""

    def __init__(self, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm, self.dropout = LayerNorm(d_model), Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        return self.dropout(sublayer(self.norm(x)))


class NoNorm(nn.Module):
    """x + f(x): the way around the sublayer alone."""

    def __init__(self, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        return x + self.dropout(sublayer(x))
