"""A run folder: everything that is needed to use a model, in files that hold no code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sublayer.errors import CheckpointError, ConfigError
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.models.store import load_weights, save_weights
from sublayer.tasks.recipe import Search
from sublayer.tasks.translate import Translate
from sublayer.text import Tokenizer

VERSION = 1


def write_json(path: Path, values: dict[str, Any]) -> None:
    """All or nothing."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    os.replace(beside, path)


def save_description(task: Translate, config: ModelConfig, folder: Path) -> None:
    """All but the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config.model_dump(mode="json", exclude_none=True))
    task.source.save(folder / "tokenizer.json")
    if task.target is not task.source:
        task.target.save(folder / "target_tokenizer.json")
    shared = task.target is task.source
    search = task.search.model_dump(mode="json")
    write_json(folder / "task.json", {"format": VERSION, "task": "translate", "shared": shared, "search": search})


def save_pretrained(task: Translate, config: ModelConfig, folder: Path) -> None:
    """The whole folder."""
    save_description(task, config, folder)
    save_weights(task.model, folder / "model.safetensors")


def load(run: str | Path, *, weights: bool = True) -> Translate:
    """The task object of a run folder, ready to predict. CheckpointError where something is missing or wrong."""
    folder = Path(run)
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is no run folder: there is no such folder.")
    about = _read_json(folder / "task.json")
    if about.get("format") != VERSION or about.get("task") != "translate":
        raise CheckpointError(
            f"{folder / 'task.json'} says format {about.get('format')!r}, task {about.get('task')!r}; "
            f"this version reads format {VERSION}, task 'translate'."
        )
    config = _config(folder / "config.json")
    source = Tokenizer.load(folder / "tokenizer.json")
    target = source if about.get("shared") else Tokenizer.load(folder / "target_tokenizer.json")
    model = build(config)
    assert isinstance(model, EncoderDecoder)
    if weights:
        load_weights(model, folder / "model.safetensors")
    return Translate(model.eval(), source, target, Search.model_validate(about.get("search", {})))


def _config(path: Path) -> ModelConfig:
    values = _read_json(path)
    for name, part in values.items():
        if isinstance(part, dict) and ":" in str(part.get("kind")):
            raise CheckpointError(
                f"{path}: {name} names code of its own ({part['kind']}), which a folder never may. "
                "Build the model yourself and load model.safetensors with sublayer.models.load_weights."
            )
    try:
        return ModelConfig.read(values)
    except ConfigError as error:
        raise CheckpointError(f"{path}: {error}") from None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} holds {type(values).__name__}, expected an object with keys.")
    return values
