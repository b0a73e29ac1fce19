"""Folders of the sentence-transformers kind: a body, how its states become one vector, and whether it has length 1."""

from __future__ import annotations

import json
from pathlib import Path

from sublayer.errors import CheckpointError, listing
from sublayer.interop.family import Head
from sublayer.models.config import ModelConfig
from sublayer.models.files import read_json, write_json, write_text

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


def longest_text(folder: Path) -> int | None:
    """How many tokens of a text are to be read, specials counted; None where the folder does not say it."""
    path = folder / "sentence_bert_config.json"
    longest = read_json(path).get("max_seq_length") if path.is_file() else None
    if longest is not None and (not isinstance(longest, int) or longest < 3):
        raise CheckpointError(f"{path} says max_seq_length {longest!r}, expected a number of tokens.")
    return longest


def write_modules(folder: Path, config: ModelConfig, longest: int | None = None) -> None:
    """The other way for a model whose head gives sentence vectors; nothing for others."""
    if config.head.kind != "sentence":
        return
    kinds = ["Transformer", "Pooling", *(["Normalize"] if config.head.options.get("normalize") else [])]
    paths = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": i, "name": str(i), "path": paths[i], "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    write_text(folder / "modules.json", json.dumps(modules, indent=2) + "\n")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    pools = {key: pool == config.head.options.get("pool", "mean") for key, pool in POOLING.items()}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": config.d_model, **pools})
    if longest is not None:
        write_json(folder / "sentence_bert_config.json", {"max_seq_length": longest})


def _pool(path: Path) -> str:
    chosen = [key for key, value in read_json(path).items() if key.startswith("pooling_mode") and value]
    if len(chosen) != 1 or chosen[0] not in POOLING:
        raise CheckpointError(listing(f"{path} asks for none or several of the poolings that are known:", chosen))
    return POOLING[chosen[0]]
