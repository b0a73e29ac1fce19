"""Files that are there as a whole or not at all."""

import os
from pathlib import Path


def write_whole(path: str | Path, text: str) -> None:
    """Written as UTF-8 beside and then renamed."""
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(text.encode("utf-8"))
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
