"""The tensors of a Hugging Face folder. Nothing in it is run."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from sublayer.errors import CheckpointError, listing
from sublayer.models.files import read_json
from sublayer.models.store import load_tensors

SAFE, PICKLED = "model.safetensors", "pytorch_model.bin"
FILES = (SAFE, f"{SAFE}.index.json", PICKLED, f"{PICKLED}.index.json")
"""In this order: the first that is there is read."""


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """All of them. CheckpointError where there is no file, or a shard does not hold what the index says."""
    for name in FILES:
        path = folder / name
        if path.is_file():
            return _shards(path) if name.endswith(".index.json") else _file(path)
    raise CheckpointError(f"{folder} holds no weights: expected one of {', '.join(FILES)}.")


def _shards(index: Path) -> dict[str, Tensor]:
    where = read_json(index).get("weight_map")
    if not isinstance(where, dict) or not all(isinstance(name, str) for name in where.values()):
        raise CheckpointError(f"{index} has no weight_map from tensors to files.")
    if outside := sorted({name for name in where.values() if Path(name).name != name}):
        raise CheckpointError(listing(f"{index} names files that are not beside it:", outside))
    shards = {name: _file(index.parent / name) for name in sorted(set(where.values()))}
    problems = [f"missing: {tensor} in {name}" for tensor, name in where.items() if tensor not in shards[name]]
    problems += [
        f"not listed: {tensor} in {name}"
        for name, held in shards.items()
        for tensor in held
        if where.get(tensor) != name
    ]
    if problems:
        raise CheckpointError(listing(f"{index} and its files do not agree:", problems))
    return {tensor: shards[name][tensor] for tensor, name in where.items()}


def _file(path: Path) -> dict[str, Tensor]:
    if path.suffix == ".safetensors":
        return load_tensors(path)
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # one of a class of its own where there is more than tensors in the file
        raise CheckpointError(f"{path} cannot be read as a file of weights: {str(error).splitlines()[0]}") from None
    if not isinstance(held, dict) or not all(isinstance(x, Tensor) for x in held.values()):
        raise CheckpointError(f"{path} holds something else than tensors by name.")
    return held
