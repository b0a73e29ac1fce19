"""Positions stretched in training, for texts longer than the trained ones."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from sublayer.nn import stretched
from sublayer.train.loss import Loss


class Stretched:
    """A loss whose batches stand at positions times a factor, drawn for each from 1 to 1 + most."""

    def __init__(self, loss: Callable[[Any, Any], Loss], most: float) -> None:
        self.loss, self.most = loss, most

    def __call__(self, model: nn.Module, batch: Any) -> Loss:
        with stretched(model, 1 + self.most * float(torch.rand(()))):
            return self.loss(model, batch)
