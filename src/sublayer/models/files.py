"""Files that are whole or not there at all, and small ones of text, in UTF-8."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from sublayer.errors import CheckpointError


def write_text(path: Path, text: str) -> None:
    """All or nothing: written beside and then renamed."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8", newline="\n")
    put(beside, path)


def put(beside: Path, path: Path) -> None:
    """Give a file that is written its name, so that even after a power cut the name stands for the whole of it."""
    settle(beside)
    os.replace(beside, path)
    settle(path.parent)


def settle(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name == "nt":  # there a folder cannot be waited for, nor a file that is open for reading
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what writing that was cut off has left beside the files."""
    for left in [*folder.glob(".*.part"), *folder.glob(".*.gone")]:
        shutil.rmtree(left) if left.is_dir() else left.unlink()


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
