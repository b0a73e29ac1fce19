"""Small models to measure and to train."""

from typing import TypeVar

import torch
from torch import Tensor, nn

from sublayer.nn import Mask

M = TypeVar("M", bound=nn.Module)


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
