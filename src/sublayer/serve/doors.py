"""From run folders to doors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sublayer.errors import ConfigError
from sublayer.serve.answer import AnswerDoor
from sublayer.serve.complete import CompleteDoor
from sublayer.serve.door import Door
from sublayer.serve.embed import EmbedDoor
from sublayer.serve.fill import FillDoor, SpansDoor
from sublayer.serve.limits import Limits
from sublayer.serve.reading import ClassifyDoor, TagDoor
from sublayer.serve.translate import TranslateDoor
from sublayer.tasks.answer import Answer
from sublayer.tasks.base import Task
from sublayer.tasks.classify import Classify
from sublayer.tasks.complete import Complete
from sublayer.tasks.embed import Embed
from sublayer.tasks.fill import Fill
from sublayer.tasks.spans import FillSpans
from sublayer.tasks.tag import Tag
from sublayer.tasks.translate import Translate

DOORS: dict[type[Task], Any] = {
    Translate: TranslateDoor,
    Classify: ClassifyDoor,
    Tag: TagDoor,
    Complete: CompleteDoor,
    Embed: EmbedDoor,
    Answer: AnswerDoor,
    Fill: FillDoor,
    FillSpans: SpansDoor,
}


def door(task: Task, quick: Task, limits: Limits) -> Door:
    """The door of a task. ConfigError for one that has none.

    task   as it was loaded
    quick  the same with what finds its answers fastest
    """
    if type(task) not in DOORS:
        known = ", ".join(kind.__name__ for kind in DOORS)
        raise ConfigError(f"A {type(task).__name__} cannot be served yet. What can: {known}.")
    made: Door = DOORS[type(task)](task, quick, limits)
    list(made.answer([made.example], made.settings({})))  # what torch sets up at its first call, before a request
    return made


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
