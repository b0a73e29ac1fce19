"""Losses that are sums with counts, so that every mean divides once, by real tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


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
    total, nll = _CrossEntropy.apply(logits.float(), targets, smoothing)
    return Loss(total, nll, targets.numel())


class _CrossEntropy(torch.autograd.Function):
    """The gradient of the logits is softmax - target distribution. Written out it takes one (N, V) tensor where
    autograd takes three, which is a tenth of a training step with 8,000 classes."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
        logp = logits.log_softmax(-1)
        nll = -logp.gather(-1, targets[:, None]).sum()
        uniform = -logp.mean(-1).sum() if smoothing else torch.zeros_like(nll)
        ctx.save_for_backward(logp, targets)
        ctx.smoothing = smoothing
        ctx.mark_non_differentiable(nll)
        return (1 - smoothing) * nll + smoothing * uniform, nll

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        logp, targets = ctx.saved_tensors
        gradient = logp.exp_()  # in place: torch refuses a second pass through the same graph
        gradient -= ctx.smoothing / gradient.size(-1)
        on_target = gradient.new_full((len(targets), 1), ctx.smoothing - 1)
        return gradient.scatter_add_(-1, targets[:, None], on_target).mul_(grads[0]), None, None


def chunked_cross_entropy(
    project: nn.Module, states: Tensor, targets: Tensor, smoothing: float = 0.0, *, chunk: int
) -> Loss:
    """`cross_entropy(project(states), targets, smoothing)` for states (N, D), `chunk` of them at a time.

    No more than (chunk, V) logits are ever there: the gradients of a chunk are taken as soon as it is there, after
    Hsu et al. 2024, Liger Kernel, section 3.2. The numbers are the same up to the order of sums.
    """
    weights = [p for p in project.parameters() if p.requires_grad]
    total, nll = _Chunked.apply(project, targets, smoothing, chunk, states, *weights)
    return Loss(total, nll, targets.numel())


class _Chunked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, project: nn.Module, targets: Tensor, smoothing: float, chunk: int, states: Tensor, *weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        total, nll = (torch.zeros((), device=states.device) for _ in range(2))
        of_states, of_weights = [], [torch.zeros_like(weight) for weight in weights]
        for x, y in zip(states.split(chunk), targets.split(chunk), strict=True):
            x = x.detach().requires_grad_()
            with torch.enable_grad():
                loss = cross_entropy(project(x), y, smoothing)
            first, *others = torch.autograd.grad(loss.total, (x, *weights))
            of_states.append(first)
            for held, gradient in zip(of_weights, others, strict=True):
                held += gradient
            total, nll = total + loss.total.detach(), nll + loss.nll
        ctx.save_for_backward(*([torch.cat(of_states)] if of_states else [torch.zeros_like(states)]), *of_weights)
        ctx.mark_non_differentiable(nll)
        return total, nll

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        return None, None, None, None, *(gradient * grads[0] for gradient in ctx.saved_tensors)


def binary_cross_entropy(logits: Tensor, targets: Tensor) -> Loss:
    """Of logits (N, C) and targets (N, C) of 0 and 1, each class a question of its own. The count is that of the rows:
    a row costs the sum over its classes."""
    total = F.binary_cross_entropy_with_logits(logits.float(), targets.float(), reduction="sum")
    return Loss(total, total.detach(), len(targets))


def no_loss(device: torch.device | None = None) -> Loss:
    """Where a sum starts."""
    zero = torch.zeros((), device=device)
    return Loss(zero, zero, 0)
