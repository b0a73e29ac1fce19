"""The residual step around a sublayer."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from sublayer.nn.dropout import Dropout
from sublayer.nn.norm import LayerNorm, NormFactory


class SublayerConnection(nn.Module):
    """The residual step around one sublayer f.

        pre-norm    x + Dropout(f(Norm(x)))      Xiong et al. 2020, figure 1b
        post-norm   Norm(x + Dropout(f(x)))      Vaswani et al. 2017, section 3.1

    The sublayer comes with the call, so one class serves self-attention, cross-attention and the feed-forward
    network alike. Shapes: x (B, T, D), f keeps the shape.
    """

    def __init__(
        self, d_model: int, dropout: float = 0.1, *, norm: NormFactory = LayerNorm, norm_first: bool = True
    ) -> None:
        super().__init__()
        self.norm = norm(d_model)
        self.dropout = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class StochasticDepth(SublayerConnection):
    """In training a row skips the sublayer with probability `skip`, and what the others get from it is divided by
    1 - skip. Huang et al. 2016, with a coin for each row: a process that skipped the whole sublayer would have no
    gradients for the others to add theirs to.
    """

    def __init__(self, d_model: int, dropout: float = 0.1, *, skip: float, **options: Any) -> None:
        super().__init__(d_model, dropout, **options)
        self.skip = skip

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return super().forward(x, lambda x: self._skipping(sublayer(x)))

    def _skipping(self, y: Tensor) -> Tensor:
        if not self.training:
            return y
        kept = torch.rand(y.size(0), 1, 1, device=y.device) >= self.skip
        return y * (kept / (1 - self.skip)).to(y.dtype)


Connect = Callable[[int, float], nn.Module]
"""What a layer takes as `connect=`: a factory of modules called as `step(x, sublayer)`."""
