"""Rotary positions whose angles grow more slowly, so that a model reads longer texts than it was first trained on."""

import math

import torch

from sublayer.errors import ConfigError
from sublayer.nn.position import Layout, Rotary


class LinearRotary(Rotary):
    """Position p turns as p / factor does in `Rotary`. Chen et al. 2023, equation 4."""

    def __init__(self, d_k: int, *, factor: float, layout: Layout = "halves", theta: float = 10000.0) -> None:
        super().__init__(d_k, layout=layout, theta=theta)
        self.frequencies = self.frequencies / factor


class Llama3Rotary(Rotary):
    """Pairs that turn at least `high` times within `original` positions turn as in `Rotary`, those that turn at most
    `low` times turn `factor` times more slowly, and those between go over from one to the other. Grattafiori et al.
    2024 (Llama 3), as their code has it; the idea by parts: Peng et al. 2024, section 3.2.
    """

    def __init__(
        self,
        d_k: int,
        *,
        factor: float,
        low: float,
        high: float,
        original: int,
        layout: Layout = "halves",
        theta: float = 10000.0,
    ) -> None:
        super().__init__(d_k, layout=layout, theta=theta)
        if low >= high:
            raise ConfigError(f"low={low} turns and high={high}: low must be below high.")
        turns = original * self.frequencies / (2 * math.pi)
        kept = ((turns - low) / (high - low)).clamp(0, 1)
        self.frequencies = torch.lerp(self.frequencies / factor, self.frequencies, kept)
