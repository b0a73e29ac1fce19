"""Several processes, on torch's own engine. Started by torchrun, which says in the environment who is who.

Gradients cross as means over the processes; the trainer multiplies by their number and divides by all tokens of the
update, so the loss is that of one process on the joined batch, however unevenly the tokens fall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.nn.parallel import DistributedDataParallel

from sublayer.nn import DecoderLayer, EncoderLayer
from sublayer.train.loss import Loss
from sublayer.train.world import Step


class _Lossy(nn.Module):
    """Model and loss as one module, since both engines watch what passes through a `forward`."""

    def __init__(self, model: nn.Module, loss: Callable[[Any, Any], Loss]) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: Any) -> tuple[Tensor, Tensor, int]:
        found = self.loss(self.model, batch)
        return found.total, found.nll, found.count


class _Together:
    """What both engines share."""

    engine: Any

    def __init__(self, device: torch.device) -> None:
        if not dist.is_initialized():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        self.device = device
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def sum(self, loss: Loss) -> Loss:
        sums = torch.stack([loss.nll.double(), torch.tensor(loss.count, dtype=torch.float64, device=loss.nll.device)])
        sums = sums.to(self.device)
        dist.all_reduce(sums)
        return Loss(loss.total, sums[0].cpu(), int(sums[1]))

    def any(self, so: bool) -> bool:
        found = torch.tensor(int(so), device=self.device)
        dist.all_reduce(found, dist.ReduceOp.MAX)
        return bool(found)

    def agreed(self, value: Any) -> Any:
        held = [value]
        dist.broadcast_object_list(held, src=0, device=self.device)
        return held[0]

    def gathered(self, value: Any) -> list[Any]:
        held: list[Any] = [None] * self.size
        dist.all_gather_object(held, value)
        return held

    def _run(self, batch: Any) -> Loss:
        return Loss(*self.engine(batch))


class Replicated(_Together):
    """Each process holds the whole model. Li et al. 2020, PyTorch Distributed."""

    engine: DistributedDataParallel

    def step(self, model: nn.Module, loss: Callable[[Any, Any], Loss]) -> Step:
        self.engine = DistributedDataParallel(_Lossy(model, loss))
        return self._run

    @contextmanager
    def collecting(self, last: bool) -> Iterator[None]:
        if last:
            yield
        else:
            with self.engine.no_sync():
                yield

    @contextmanager
    def whole(self) -> Iterator[None]:
        yield


class Sharded(_Together):
    """Each process holds a part of every weight, gradient and moment. Zhao et al. 2023, PyTorch FSDP.

    The optimiser is to be made after `step`, which puts parts in the place of the parameters.
    """

    engine: nn.Module

    def step(self, model: nn.Module, loss: Callable[[Any, Any], Loss]) -> Step:
        mesh = init_device_mesh(self.device.type, (self.size,))
        for layer in model.modules():
            if isinstance(layer, EncoderLayer | DecoderLayer):
                fully_shard(layer, mesh=mesh)
        self.engine = _Lossy(model, loss)
        fully_shard(self.engine, mesh=mesh)
        return self._run

    @contextmanager
    def collecting(self, last: bool) -> Iterator[None]:
        self._parts()[0].set_requires_gradient_sync(last)
        yield

    @contextmanager
    def whole(self) -> Iterator[None]:
        parts = self._parts()
        for part in parts:
            part.unshard()
            part.set_reshard_after_forward(False, recurse=False)
        try:
            yield
        finally:
            for part in parts:
                part.set_reshard_after_forward(part is not parts[0], recurse=False)
                part.reshard()

    def _parts(self) -> list[FSDPModule]:
        """The root, then the layers."""
        return [module for module in self.engine.modules() if isinstance(module, FSDPModule)]
