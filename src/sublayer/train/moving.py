"""A mean of the weights that moves along with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from sublayer.models.store import plain


class Average:
    """None: the weights themselves are what is validated and kept."""

    def __init__(self, model: nn.Module) -> None:
        self.held: dict[str, Tensor] = {}

    def update(self, step: int) -> None:
        """After each update, the first of which is step 1."""

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Inside, the model has the mean for its weights."""
        yield


class Moving(Average):
    """The exponential mean of the trained weights: m = d · m + (1 - d) · w, with d = min(decay, (1 + n) / (10 + n))
    after n updates, so that a short run is not held back by where it began. Polyak and Juditsky 1992.

    held  the mean by the names of the weights, each tied one once
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights = {plain(name): p for name, p in model.named_parameters() if p.requires_grad}
        self.held = {name: p.detach().clone() for name, p in self.weights.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(list(self.held.values()), list(self.weights.values()), 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for name, parameter in self.weights.items():
            was = parameter.detach().clone()
            parameter.copy_(self.held[name])
            self.held[name].copy_(was)
