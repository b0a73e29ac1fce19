"""What a run folder holds: recipe.yaml, config.json, model.safetensors, tokenizer.json (and target_tokenizer.json where
two sides differ), task.json, metrics.jsonl, checkpoints/, samples/. None of it is code."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sublayer.errors import CheckpointError
from sublayer.models.config import ModelConfig

FORMAT = 1


def write_text(path: Path, text: str) -> None:
    """All or nothing: written beside and then renamed."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8", newline="\n")
    os.replace(beside, path)


def write_json(path: Path, values: dict[str, Any]) -> None:
    write_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def write_sample(run: Path, rows: Iterable[Sequence[str]]) -> None:
    """samples/valid.tsv: a line for each of these rows of cells."""
    (run / "samples").mkdir(exist_ok=True)
    write_text(run / "samples" / "valid.tsv", "".join("\t".join(row) + "\n" for row in rows))


def write_task(folder: Path, task: str, config: ModelConfig, about: dict[str, Any]) -> None:
    """config.json, and task.json with what else the task is about."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config.model_dump(mode="json", exclude_none=True))
    write_json(folder / "task.json", {"format": FORMAT, "task": task, **about})


def read_json(path: Path) -> dict[str, Any]:
    """CheckpointError for a file that is missing or holds something else than an object."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} holds {type(values).__name__}, expected an object with keys.")
    return values
