"""Checkpoints that can be trusted: sums beside the files, and folders that come and go as a whole."""

import hashlib
import os
import shutil
from pathlib import Path

from sublayer.models.files import settle

SUMS = "SHA256SUMS"  # as sha256sum writes and checks it


def seal(folder: Path) -> None:
    """Write down the sum of each file of the folder, and wait until all of it is on the disk."""
    files = sorted(folder.iterdir())
    lines = [f"{_sum(file)}  {file.name}\n" for file in files]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")
    for path in (*files, folder / SUMS, folder):
        settle(path)


def damage(folder: Path) -> str | None:
    """What is wrong with a sealed folder; None where every file is what was written."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
        sums = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError):
        return f"{SUMS} cannot be read"
    if "state.json" not in sums:
        return f"{SUMS} is not whole"
    for name, digest in sums.items():
        if not (folder / name).is_file():
            return f"{name} is missing"
        if _sum(folder / name) != digest:
            return f"{name} is not what was written, its SHA-256 differs"
    return None


def bring(part: Path, folder: Path) -> None:
    """A folder that is written takes its name, in place of one that had it."""
    if folder.exists():
        remove(folder)
    os.replace(part, folder)
    settle(folder.parent)


def remove(folder: Path) -> None:
    """Never seen half: it loses its name first."""
    gone = folder.with_name(f".{folder.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    os.replace(folder, gone)
    shutil.rmtree(gone)


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
