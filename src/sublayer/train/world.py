"""The processes that train one model: what a run asks of them, and the answer where there is only one."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Protocol

import torch
from torch import nn

from sublayer.train.loss import Loss

Step = Callable[[Any], Loss]


class World(Protocol):
    """`size` processes, of which this is number `rank`."""

    rank: int
    size: int

    def step(self, model: nn.Module, loss: Callable[[Any, Any], Loss]) -> Step:
        """The loss of a batch; its backward pass gives each process the mean of the gradients over all of them."""

    def collecting(self, last: bool) -> AbstractContextManager[None]:
        """For each batch of an update: gradients only cross to the other processes with the last one."""

    def whole(self) -> AbstractContextManager[None]:
        """Inside, each process holds all weights and can use the model as if it were alone."""

    def sum(self, loss: Loss) -> Loss:
        """What is reported of a loss, over all processes."""

    def any(self, so: bool) -> bool:
        """Whether it is so in one of the processes."""

    def agreed(self, value: Any) -> Any:
        """The value that the first process has."""

    def gathered(self, value: Any) -> list[Any]:
        """The value of each process."""


class Alone:
    """One process."""

    rank, size = 0, 1

    def step(self, model: nn.Module, loss: Callable[[Any, Any], Loss]) -> Step:
        return partial(loss, model)

    def collecting(self, last: bool) -> AbstractContextManager[None]:
        return nullcontext()

    def whole(self) -> AbstractContextManager[None]:
        return nullcontext()

    def sum(self, loss: Loss) -> Loss:
        return loss

    def any(self, so: bool) -> bool:
        return so

    def agreed(self, value: Any) -> Any:
        return value

    def gathered(self, value: Any) -> list[Any]:
        return [value]


def world_of(parallel: str, device: torch.device) -> World:
    """The processes that torchrun has started, or this one alone.

    parallel  ddp: each holds the whole model; fsdp: each holds a part of it
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return Alone()
    from sublayer.train.parallel import Replicated, Sharded

    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return Sharded(device) if parallel == "fsdp" else Replicated(device)
