"""All that a run needs to go on as if it had never stopped: weights, moments, generators, place in the data."""

import json
import random
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from sublayer.errors import CheckpointError
from sublayer.models.files import write_text
from sublayer.models.store import FORMAT, load_tensors, load_weights, parted, plain, save_tensors, weights, whole
from sublayer.train.intact import bring, remove, seal
from sublayer.train.moving import Average
from sublayer.train.world import Alone, World


@dataclass
class Position:
    """Where a run stands, and what it has seen since its last record."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    skipped: int = 0
    lowest: float | None = None
    best: float | None = None
    best_step: int = 0
    waited: int = 0
    window_nll: float = 0.0
    window_tokens: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


def save(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    position: Position,
    world: World | None = None,
    average: Average | None = None,
) -> Path:
    """A folder `step-…` under `folder`, there only when it is whole. All processes call it, the first one writes.

    CheckpointError where the disk does not take it; what was there before stays.
    """
    world = world or Alone()
    done = folder / f"step-{position.step:08d}"
    held, (tensors, numbers) = weights(model), _moments(model, optimizer)
    tensors |= {f"average/{name}": whole(mean) for name, mean in _means(average).items()}
    generators = world.gathered(_generators())
    if world.rank:
        return done
    for rank, (states, _) in enumerate(generators):
        tensors |= {f"generator/{rank}/{name}": state for name, state in states.items()}
    drawn = [others for _, others in generators]
    state = {"position": asdict(position), "optimizer": numbers, "generators": drawn}
    part = folder / f".{done.name}.part"
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        save_tensors(held, part / "model.safetensors", FORMAT)
        save_tensors(tensors, part / "state.safetensors")
        write_text(part / "state.json", json.dumps(state))
        seal(part)
        bring(part, done)
    except (OSError, CheckpointError) as error:
        shutil.rmtree(part, ignore_errors=True)
        older = ", ".join(c.name for c in checkpoints(folder)) or "nothing"
        raise CheckpointError(
            f"{done} cannot be saved: {error}. What is there already is as it was ({older}). Make room, then go on "
            "with --resume."
        ) from None
    return done


def restore(
    checkpoint: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    world: World | None = None,
    average: Average | None = None,
) -> Position:
    """Put everything back; CheckpointError where the folder does not hold what it should.

    Random generators go on where as many processes train as did before.
    """
    world = world or Alone()
    try:
        state = json.loads((checkpoint / "state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{checkpoint} is no checkpoint: {error}") from None
    load_weights(model, checkpoint / "model.safetensors")
    tensors = load_tensors(checkpoint / "state.safetensors")
    try:
        _put_moments(model, optimizer, tensors, state["optimizer"])
        for name, mean in _means(average).items():
            mean.copy_(parted(tensors[f"average/{name}"], mean))
        if len(state["generators"]) == world.size:
            _put_generators(tensors, world.rank, state["generators"][world.rank])
        return Position(**state["position"])
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise CheckpointError(f"{checkpoint} does not hold what a checkpoint should: {error!r}") from None


def checkpoints(folder: Path) -> list[Path]:
    """Whole checkpoints under `folder`, oldest first."""
    return sorted(p for p in folder.glob("step-*") if (p / "state.json").exists())


def rotate(saved: Path, keep: int) -> None:
    """Remove what is older than this checkpoint and the `keep` - 1 before it. One of a later step was passed over as
    damaged, and does not count."""
    for old in [found for found in checkpoints(saved.parent) if found.name <= saved.name][:-keep]:
        remove(old)


def _means(average: Average | None) -> dict[str, torch.Tensor]:
    return {} if average is None else average.held


def _named(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[tuple[str, nn.Parameter]]:
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return [(plain(name), p) for name, p in model.named_parameters() if id(p) in held]


def _moments(
    model: nn.Module, optimizer: torch.optim.Optimizer
) -> tuple[dict[str, torch.Tensor], dict[str, dict[str, float]]]:
    tensors: dict[str, torch.Tensor] = {}
    numbers: dict[str, dict[str, float]] = {}
    for name, parameter in _named(model, optimizer):
        for key, value in optimizer.state.get(parameter, {}).items():
            if isinstance(value, torch.Tensor):
                tensors[f"optimizer/{key}/{name}"] = whole(value)
            else:
                numbers.setdefault(name, {})[key] = value
    return tensors, numbers


def _put_moments(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    tensors: dict[str, torch.Tensor],
    numbers: dict[str, dict[str, float]],
) -> None:
    moments: dict[str, dict[str, Any]] = {name: dict(values) for name, values in numbers.items()}
    for key, tensor in tensors.items():
        if key.startswith("optimizer/"):
            _, moment, name = key.split("/", 2)
            moments.setdefault(name, {})[moment] = tensor
    for name, parameter in _named(model, optimizer):
        optimizer.state[parameter] = {
            moment: _like(value, parameter) if isinstance(value, torch.Tensor) else value
            for moment, value in moments.pop(name, {}).items()
        }
    if moments:
        raise ValueError(f"moments of {', '.join(moments)}, which this model does not train")


def _like(moment: torch.Tensor, parameter: nn.Parameter) -> torch.Tensor:
    moment = moment.to(parameter.device)
    return parted(moment, parameter) if moment.shape == parameter.shape else moment


def _generators() -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    tensors = {"torch": torch.get_rng_state()}
    if torch.cuda.is_initialized():
        tensors["cuda"] = torch.cuda.get_rng_state()
    kind, keys, *rest = np.random.get_state()
    numpy_state = [str(kind), [int(k) for k in keys], *rest]
    return tensors, {"python": random.getstate(), "numpy": numpy_state}


def _put_generators(tensors: dict[str, torch.Tensor], rank: int, states: dict[str, Any]) -> None:
    torch.set_rng_state(tensors[f"generator/{rank}/torch"])
    if torch.cuda.is_initialized():
        torch.cuda.set_rng_state(tensors[f"generator/{rank}/cuda"])
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    np.random.set_state(states["numpy"])
