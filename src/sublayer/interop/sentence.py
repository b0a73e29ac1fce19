"""Folders of the sentence-transformers kind: a body, how its states become one vector, and whether it has length 1."""

from __future__ import annotations

import json
from pathlib import Path

from sublayer.errors import CheckpointError, listing
from sublayer.interop.family import Head
from sublayer.models.files import read_json

POOLING = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first", "pooling_mode_max_tokens": "max"}


def sentence_head(folder: Path) -> Head | None:
    """What modules.json asks for; None where there is none."""
    if not (folder / "modules.json").is_file():
        return None
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise CheckpointError(
            f"{folder / 'modules.json'} has the modules {', '.join(kinds)}; what can be read is "
            "Transformer, Pooling and, after these, Normalize."
        )
    pool = _pool(folder / str(modules[1].get("path", "")) / "config.json")
    return Head({"head.kind": "sentence", "head.pool": pool, "head.normalize": len(kinds) == 3})


def _pool(path: Path) -> str:
    chosen = [key for key, value in read_json(path).items() if key.startswith("pooling_mode") and value]
    if len(chosen) != 1 or chosen[0] not in POOLING:
        raise CheckpointError(listing(f"{path} asks for none or several of the poolings that are known:", chosen))
    return POOLING[chosen[0]]
