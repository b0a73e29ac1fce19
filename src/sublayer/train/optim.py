"""Optimisers."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from sublayer.models.store import whole
from sublayer.train.muon import Muon
from sublayer.train.tuning import grouped

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


def optimizer(
    model: nn.Module,
    kind: str,
    *,
    betas: tuple[float, float] = (0.9, 0.98),
    eps: float = 1e-9,
    weight_decay: float = 0.0,
    layer_decay: float = 1.0,
) -> torch.optim.Optimizer:
    """One update kernel for all tensors. Matrices decay; norms and biases do not. Each tied tensor comes once.

    kind  adam, adamw; adafactor, whose moments of a matrix are one number a row and one a column (Shazeer and Stern
          2018) and which reads neither betas nor eps; muon
    layer_decay  of the rate, from each layer to the one below it: see `grouped`
    """
    groups = grouped(model, weight_decay, layer_decay)
    about: dict[str, Any] = dict(betas=betas, eps=eps, fused=True)
    if kind == "muon":
        return Muon(model, groups, **about)  # type: ignore[return-value]
    if kind == "adafactor":
        return torch.optim.Adafactor(groups)
    return OPTIMIZERS[kind](groups, **about)


def scale_gradients(parameters: Iterable[nn.Parameter], factor: float) -> None:
    """In place: how a sum over tokens becomes a mean, once, after all micro-batches."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    if gradients:
        torch._foreach_mul_(gradients, factor)


def clip(parameters: Iterable[nn.Parameter], most: float) -> float:
    """Scale the gradients so that their joint norm is at most `most` (0: leave them); the norm before it."""
    limit = most if most > 0 else float("inf")
    return float(whole(torch.nn.utils.clip_grad_norm_(list(parameters), limit, foreach=True)))
