"""Gradients as a measure of who matters: of an answer by its inputs, of a position by the others."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from sublayer.inspect.activations import activations, replaced


class InputGradients(NamedTuple):
    """value, gradient  (B, T, D) what stood at the place, and the gradient of the score by it"""

    value: Tensor
    gradient: Tensor

    @property
    def norm(self) -> Tensor:
        """(B, T): how much the score can change with each position. Simonyan et al. 2014."""
        return self.gradient.norm(dim=-1)

    @property
    def times_input(self) -> Tensor:
        """(B, T): how much of the score each position brings, to first order; negative where it speaks against it."""
        return (self.gradient * self.value).sum(-1)


def input_gradients(
    model: nn.Module, inputs: tuple[Any, ...], score: Callable[[Any], Tensor], *, at: str = "embed"
) -> InputGradients:
    """Gradients of `score(model(*inputs))`, one number, by what stands at a place, the embeddings for example. Those of
    an encoder-decoder are at "source_embed" and "target_embed"; what can be named is in `places(model)`."""
    with torch.enable_grad(), replaced(model, {at: _leaf}), activations(model, at) as seen:
        total = score(model(*inputs))
    (gradient,) = torch.autograd.grad(total, seen[at])
    return InputGradients(seen[at].detach(), gradient)


def jacobian_flow(model: nn.Module, inputs: tuple[Any, ...], *, at: str, to: str) -> Tensor:
    """Who reaches whom: (B, T, S) with ‖∂ to[t] / ∂ at[s]‖, Frobenius, for activations at[s] and to[t], (B, S, D) and
    (B, T, D'). An entry is 0 where no path leads from s to t.

    It costs T · D' backward passes, so `to` is better a state than logits over a large vocabulary.
    """
    with torch.enable_grad(), replaced(model, {at: _leaf}), activations(model, at, to) as seen:
        model(*inputs)
        x, y = seen[at], seen[to]
        parts = [[part.sum() for part in y[:, t].unbind(-1)] for t in range(y.size(1))]
    squared = x.new_zeros(y.size(0), y.size(1), x.size(1))
    for t, dimensions in enumerate(parts):
        for part in dimensions:
            (gradient,) = torch.autograd.grad(part, x, retain_graph=True, materialize_grads=True)
            squared[:, t] += gradient.pow(2).sum(-1)
    return squared.sqrt()


def _leaf(x: Tensor) -> Tensor:
    return x.detach().requires_grad_()
