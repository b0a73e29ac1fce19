"""A linear map of scaled states."""

from typing import Any

from torch import Tensor, nn


class ScaledLinear(nn.Linear):
    """W (scale · x) + b. With scale = 1 / √d_model a map that is tied to an embedding gives scores of unit size.

    Raffel et al. 2020 have it so; the paper does not say it, their code does.
    """

    def __init__(self, in_features: int, out_features: int, *, scale: float, **options: Any) -> None:
        super().__init__(in_features, out_features, **options)
        self.scale = scale

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x * self.scale)
