"""What can be read off activations by a linear map, and how much of that the map merely learned by heart."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from sublayer.errors import ShapeError


class Probe(NamedTuple):
    """softmax(W x + b): multinomial logistic regression. weight (C, D), bias (C,)."""

    weight: Tensor
    bias: Tensor

    @classmethod
    def fit(cls, states: Tensor, labels: Sequence[int], *, classes: int | None = None, penalty: float = 1e-3) -> Probe:
        """The one solution of    min 1/N Σ -log p(label) + penalty/2 ‖W‖²,    in double precision.

        states (N, D) from any layer, labels N numbers from 0. `classes` is one more than the largest by default.
        """
        if len(states) != len(labels):
            raise ShapeError(f"{len(states)} states and {len(labels)} labels: give one label a state.")
        x, y = states.detach().double(), torch.tensor(labels, device=states.device)
        weight = x.new_zeros(int(y.max()) + 1 if classes is None else classes, x.size(1)).requires_grad_()
        bias = x.new_zeros(len(weight)).requires_grad_()
        solver = torch.optim.LBFGS(
            [weight, bias], max_iter=500, tolerance_grad=1e-9, tolerance_change=1e-12, line_search_fn="strong_wolfe"
        )

        def cost() -> Tensor:
            solver.zero_grad()
            loss = F.cross_entropy(F.linear(x, weight, bias), y) + penalty / 2 * weight.pow(2).sum()
            loss.backward()
            return loss

        with torch.enable_grad():
            solver.step(cost)
        return cls(weight.detach(), bias.detach())

    def predict(self, states: Tensor) -> list[int]:
        found: list[int] = F.linear(states.double(), self.weight, self.bias).argmax(-1).tolist()
        return found

    def accuracy(self, states: Tensor, labels: Sequence[int]) -> float:
        right = [a == b for a, b in zip(self.predict(states), labels, strict=True)]
        return sum(right) / len(right)


class Labelled(NamedTuple):
    """Words with their states (N, D), what each is (its spelling, for example), and the label to read off."""

    states: Tensor
    types: Sequence[Hashable]
    labels: Sequence[int]


class Probed(NamedTuple):
    """Accuracy on held-out words, of the labels and of the control task."""

    accuracy: float
    control: float

    @property
    def selectivity(self) -> float:
        """What the states tell beyond which word it is."""
        return self.accuracy - self.control


def probe(train: Labelled, test: Labelled, *, penalty: float = 1e-3, seed: int = 0) -> Probed:
    """A probe of the labels, and another of labels that chance gave to each type. Hewitt and Liang 2019, section 2."""
    count = len(train.labels)
    both = [*train.types, *test.types]
    control = control_labels(both, train.labels, seed=seed)
    classes = max(*train.labels, *test.labels) + 1
    found = []
    for fit, held in ((train.labels, test.labels), (control[:count], control[count:])):
        solved = Probe.fit(train.states, fit, classes=classes, penalty=penalty)
        found.append(solved.accuracy(test.states, held))
    return Probed(*found)


def control_labels(types: Sequence[Hashable], labels: Sequence[int], *, seed: int = 0) -> list[int]:
    """A label for each type, drawn as often as `labels` have it, and the same wherever the type comes."""
    draw = random.Random(seed)
    given = {kind: draw.choice(labels) for kind in dict.fromkeys(types)}
    return [given[kind] for kind in types]
