"""A run whose loss is no number, or runs away, ends where it does, with what caused it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from sublayer.errors import DivergedError
from sublayer.models.files import write_json
from sublayer.models.store import FORMAT, save_tensors, weights
from sublayer.train.state import Position
from sublayer.train.world import World


class Given(NamedTuple):
    """A batch of an update: what it was made from, and whether it counts or is there for the other processes' sake."""

    rows: Any
    batch: Any
    counts: bool = True


class Guard:
    """Holds each update against what may be, before the weights move.

    folder  where `failed/` goes: each batch that is at fault, what it was made from, and the weights
    rise    by how much the loss a token of an update may stand above the lowest so far; 0: by any
    """

    def __init__(self, folder: Path, world: World, rise: float = 0.0) -> None:
        self.folder, self.world, self.rise = folder / "failed", world, rise

    def check(self, at: Position, loss: float, norm: float, group: list[Given], nlls: list[float], model: Any) -> None:
        """DivergedError where the loss a token or the norm of the gradient is no number, or the loss has risen too far.
        All processes come to the same end, and each saves what it was given: the batches whose sum of -log p is no
        number, or all of the update where every one is."""
        wrong = self._wrong(at, loss, norm)
        if wrong is None:
            at.lowest = loss if at.lowest is None else min(loss, at.lowest)
            return
        held = weights(model)
        self.folder.mkdir(exist_ok=True)
        for number in [i for i, nll in enumerate(nlls) if not math.isfinite(nll)] or range(len(group)):
            name = f"step-{at.step:08d}-{self.world.rank}-{number}"
            save_tensors(dict(_tensors(group[number].batch, "batch")), self.folder / f"{name}.safetensors")
            about = {"step": at.step, "epoch": at.epoch, "rows": group[number].rows, "nll": str(nlls[number])}
            write_json(self.folder / f"{name}.json", about)
        if self.world.rank == 0:
            save_tensors(held, self.folder / "model.safetensors", FORMAT)
        raise DivergedError(
            f"Step {at.step}, epoch {at.epoch}: {wrong}. The batch and the weights that met it are in {self.folder}. "
            "Look at its rows; or lower train.learning_rate, warm up for longer, set train.clip to 1, and go on with "
            "--resume from the last checkpoint."
        )

    def _wrong(self, at: Position, loss: float, norm: float) -> str | None:
        if not math.isfinite(loss):
            return f"the loss is {loss}"
        if not math.isfinite(norm):
            return f"the norm of the gradient is {norm}"
        if self.rise and at.lowest is not None and loss > at.lowest + self.rise:
            return (
                f"the loss is {loss:.4f}, and {at.lowest:.4f} was the lowest: more than train.rise {self.rise:g} above"
            )
        return None


def _tensors(batch: Any, name: str) -> Iterator[tuple[str, Tensor]]:
    """Those in a batch, be it a tensor, a record or several of them, by where they are."""
    if isinstance(batch, Tensor):
        yield name, batch
    elif dataclasses.is_dataclass(batch):
        for field in dataclasses.fields(batch):
            yield from _tensors(getattr(batch, field.name), f"{name}.{field.name}")
    elif isinstance(batch, tuple | list):
        for number, part in enumerate(batch):
            yield from _tensors(part, f"{name}.{number}")
