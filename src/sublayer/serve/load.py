"""From run folders to a service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sublayer.errors import ConfigError
from sublayer.export.ways import with_engine
from sublayer.serve.limits import Limits
from sublayer.serve.metrics import Meters
from sublayer.serve.service import Service
from sublayer.serve.translate import TranslateDoor
from sublayer.tasks.bundle import load

WARM = "a b"  # what torch sets up at its first call is set up before the first request


def load_service(
    runs: Sequence[str], *, engine: str, limits: Limits, trust_code: bool, tell: Callable[[str], None]
) -> Service:
    """Each run behind its task's door, under the name of its folder, or under NAME where NAME=FOLDER is given.

    ConfigError for two of one name, CheckpointError for what is no run.
    """
    named = [_named(run) for run in runs]
    names = [name for name, _ in named]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"Several runs have the name {', '.join(twice)}: give each its own, as in NAME={runs[0]}.")
    doors = {}
    for name, folder in named:
        task = load(folder, trust_code=trust_code)
        quick = with_engine(task, folder, engine, search=task.search, scored=True, tell=tell)
        next(quick.predict([WARM]))
        doors[name] = TranslateDoor(task, quick, limits)
        tell(f"{name}: {doors[name].task}, engine {quick.engine.name}")
    return Service(doors, limits, Meters())


def _named(run: str) -> tuple[str, Path]:
    name, given, folder = run.partition("=")
    if given and not Path(run).is_dir():
        return name, Path(folder)
    return Path(run).resolve().name, Path(run)
