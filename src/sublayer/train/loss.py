"""Losses that are sums with counts, so that every mean divides once, by real tokens."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Loss:
    """What a batch costs.

    total  the sum to minimise, with its graph
    nll    the sum of -log p of the targets, without smoothing and without a graph: what is reported
    count  how many tokens both are sums over
    """

    total: Tensor
    nll: Tensor
    count: int

    def __add__(self, other: Loss) -> Loss:
        return Loss(self.total + other.total, self.nll + other.nll, self.count + other.count)

    @property
    def mean(self) -> Tensor:
        """The loss a token; 0 where there is none."""
        return self.total / max(self.count, 1)


def cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Loss:
    """Of logits (N, V) and targets (N,), real positions only.

    With smoothing ε the target distribution is (1 - ε) on the target plus ε / V on every class, the target among
    them (Szegedy et al. 2016, section 7). Over no tokens the loss is 0 with zero gradients.
    """
    logp = logits.float().log_softmax(-1)
    nll = -logp.gather(-1, targets[:, None]).sum()
    total = nll if smoothing == 0.0 else (1 - smoothing) * nll - smoothing * logp.mean(-1).sum()
    return Loss(total, nll.detach(), targets.numel())


def no_loss(device: torch.device | None = None) -> Loss:
    """Where a sum starts."""
    zero = torch.zeros((), device=device)
    return Loss(zero, zero, 0)
