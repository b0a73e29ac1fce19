"""What may stand around a loss: each is called as it is, with the model and the batch."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from sublayer.nn import DecoderLayer, EncoderLayer
from sublayer.train.loss import Loss


class Bfloat16:
    """Matrices are multiplied in bfloat16. Weights, moments, norms, softmax and the loss stay in fp32.

    Micikevicius et al. 2018; bfloat16 has the range of fp32, so nothing is scaled (Kalamkar et al. 2019).
    """

    def __init__(self, loss: Callable[[Any, Any], Loss], device: str) -> None:
        self.loss, self.device = loss, device
        # On a CPU the library that multiplies keeps code for each shape, of the last 1,024: some 2 MiB each.
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")

    def __call__(self, model: nn.Module, batch: Any) -> Loss:
        with torch.autocast(self.device, torch.bfloat16):
            return self.loss(model, batch)


class Recomputed:
    """What a layer holds inside is computed again when its gradients are asked for, and not kept until then: memory
    for about a third more time. Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost. Dropout falls alike.
    """

    def __init__(self, loss: Callable[[Any, Any], Loss]) -> None:
        self.loss = loss

    def __call__(self, model: nn.Module, batch: Any) -> Loss:
        with _recomputing(model):
            return self.loss(model, batch)


@contextmanager
def _recomputing(model: nn.Module) -> Iterator[None]:
    layers = [part for part in model.modules() if isinstance(part, EncoderLayer | DecoderLayer)]
    for layer in layers:
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward
