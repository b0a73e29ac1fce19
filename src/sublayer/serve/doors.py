"""From run folders to doors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sublayer.errors import ConfigError
from sublayer.serve.door import Door
from sublayer.serve.limits import Limits
from sublayer.serve.translate import TranslateDoor
from sublayer.tasks.translate import Translate

WARM = "a b"  # what torch sets up at its first call is set up before the first request


def door(task: Translate, quick: Translate, limits: Limits) -> Door:
    """The door of a task.

    task   as it was loaded
    quick  the same with what finds its answers fastest
    """
    next(quick.predict([WARM]))
    return TranslateDoor(task, quick, limits)


def named(runs: Sequence[str]) -> dict[str, Path]:
    """Each run under the name of its folder, or under NAME where it is given as NAME=FOLDER. ConfigError for two of one
    name."""
    pairs = [_named(run) for run in runs]
    names = [name for name, _ in pairs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"Several runs have the name {', '.join(twice)}: give each its own, as in NAME={runs[0]}.")
    return dict(pairs)


def _named(run: str) -> tuple[str, Path]:
    name, given, folder = run.partition("=")
    if given and not Path(run).is_dir():
        return name, Path(folder)
    return Path(run).resolve().name, Path(run)
