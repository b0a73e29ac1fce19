"""Weights to a file and back: strict both ways, tied tensors stored once, nothing unpickled."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from sublayer.errors import CheckpointError, ConfigError, listing
from sublayer.models.files import put
from sublayer.nn import Int8Linear, LowRank, PackedAttention

FORMAT = {"format": "pt"}  # what other programs look for in the file


def plain(name: str) -> str:
    """A tensor's name without what compiling or a parallel wrapper puts into it."""
    return ".".join(p for p in name.split(".") if p != "_orig_mod").removeprefix("module.")


def tied(model: nn.Module) -> list[list[str]]:
    """Names of one and the same tensor, a list a tensor, in the model's order."""
    groups: dict[int, list[str]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        groups.setdefault(id(tensor), []).append(plain(name))
    return list(groups.values())


def save_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """All or nothing: written beside and then renamed. CheckpointError where the disk takes it not."""
    beside = path.with_name(f".{path.name}.part")  # a folder: the writer makes files of its own on the way
    shutil.rmtree(beside, ignore_errors=True)
    try:
        beside.mkdir()
        save_file({name: t.detach().contiguous() for name, t in tensors.items()}, beside / path.name, metadata)
        put(beside / path.name, path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be written: {error}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def load_tensors(path: Path) -> dict[str, Tensor]:
    """CheckpointError for a file that is missing or is no safetensors file."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be read as a safetensors file: {error}") from None


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Every tensor once, under the first of its names, whole: where processes hold parts, all of them have to ask.

    ConfigError for an inference form.
    """
    if any(isinstance(part, PackedAttention | Int8Linear) for part in model.modules()):
        raise ConfigError("This is an inference form, which cannot be saved. Save the model that it was made from.")
    state = {plain(name): tensor for name, tensor in model.state_dict().items()}
    return {names[0]: whole(state[names[0]]) for names in tied(model)}


def merged(model: nn.Module, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a model with adapters as those of the model without, which computes the same."""
    left = dict(tensors)
    for name, part in model.named_modules():
        if isinstance(part, LowRank):
            name = plain(name)
            base, down, up = (left.pop(f"{name}.{p}.weight") for p in ("base", "down", "up"))
            left[f"{name}.weight"] = part.whole(base, down, up)
            if part.base.bias is not None:
                left[f"{name}.bias"] = left.pop(f"{name}.base.bias")
    return left


def save_weights(model: nn.Module, path: Path) -> None:
    """Write `weights`."""
    save_tensors(weights(model), path, FORMAT)


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor of which this process may hold a part."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def parted(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor in the parts that `like` is in, if it is in parts."""
    if not hasattr(like, "full_tensor"):
        return tensor
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(like, DTensor)
    return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements)


def load_weights(model: nn.Module, path: Path) -> None:
    """Every tensor of the model comes from the file and every tensor of the file is used, or CheckpointError."""
    place(model, load_tensors(path), str(path))


def place(model: nn.Module, tensors: Mapping[str, Tensor], origin: str) -> None:
    """Copy `tensors` into the model. Of a tied tensor any name will do, and several must agree.

    A model on the meta device, which has shapes and no numbers, takes the tensors themselves: nothing is copied.
    """
    left, problems, moves = dict(tensors), [], []
    state = {plain(name): tensor for name, tensor in model.state_dict().items()}
    for names in tied(model):
        found = {name: left.pop(name) for name in names if name in left}
        if not found:
            problems.append(f"missing: {' = '.join(names)} {tuple(state[names[0]].shape)}")
            continue
        first, *others = found.values()
        if first.shape != state[names[0]].shape:
            problems.append(f"shape: {names[0]} is {tuple(first.shape)}, expected {tuple(state[names[0]].shape)}")
        elif not all(torch.equal(first, other) for other in others):
            problems.append(f"tied, but different in the file: {' and '.join(found)}")
        moves.append((names, state[names[0]], first))
    problems += [f"not used: {name} {tuple(tensor.shape)}" for name, tensor in left.items()]
    if problems:
        raise CheckpointError(listing(f"{origin} does not fit the model:", problems))
    with torch.no_grad():
        for names, ours, theirs in moves:
            if ours.is_meta:
                _adopt(model, names, theirs)
            else:
                ours.copy_(parted(theirs, ours))


def _adopt(model: nn.Module, names: list[str], tensor: Tensor) -> None:
    """Under each of the names one and the same parameter."""
    parameter = nn.Parameter(tensor)
    for name in names:
        owner, _, leaf = name.rpartition(".")
        setattr(model.get_submodule(owner), leaf, parameter)
