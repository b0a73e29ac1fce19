"""Optimisers."""

from collections.abc import Callable, Iterable

import torch
from torch import nn

from sublayer.models.store import whole
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

    layer_decay  of the rate, from each layer to the one below it: see `grouped`
    """
    groups = grouped(model, weight_decay, layer_decay)
    return OPTIMIZERS[kind](groups, betas=betas, eps=eps, fused=True)


def scale_gradients(parameters: Iterable[nn.Parameter], factor: float) -> None:
    """In place: how a sum over tokens becomes a mean, once, after all micro-batches."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    if gradients:
        torch._foreach_mul_(gradients, factor)


def clip(parameters: Iterable[nn.Parameter], most: float) -> float:
    """Scale the gradients so that their joint norm is at most `most` (0: leave them); the norm before it."""
    limit = most if most > 0 else float("inf")
    return float(whole(torch.nn.utils.clip_grad_norm_(list(parameters), limit, foreach=True)))
