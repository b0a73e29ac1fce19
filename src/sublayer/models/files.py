"""Small files of text, UTF-8 and whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any

from sublayer.errors import CheckpointError


def write_text(path: Path, text: str) -> None:
    """All or nothing: written beside and then renamed."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8", newline="\n")
    os.replace(beside, path)


def write_json(path: Path, values: dict[str, Any]) -> None:
    write_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """CheckpointError for a file that is missing or holds something else than an object."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} holds {type(values).__name__}, expected an object with keys.")
    return values
