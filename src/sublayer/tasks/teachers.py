"""Losses with a second opinion: of the run that `train.teacher` names, or of the model itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from torch import nn

from sublayer.errors import ConfigError, listing
from sublayer.models.files import read_json
from sublayer.tasks.base import Task
from sublayer.tasks.bundle import load
from sublayer.tasks.taught import Taught, Teacher
from sublayer.train.compared import Distilled, Scores, Twice
from sublayer.train.loss import Loss


def taught(
    usual: Callable[[Any, Any], Loss], scores: Scores, task: Task, train: Taught, smoothing: float
) -> Callable[[Any, Any], Loss]:
    """The loss that `train.teacher` or `train.r_drop` asks for, else the usual one. `scores` gives of a model and a
    batch what all of them are made of."""
    if train.teacher is not None:
        asked = train.teacher
        return Distilled(scores, _model(task, asked), asked.weight, asked.temperature, smoothing)
    return Twice(scores, train.r_drop, smoothing) if train.r_drop else usual


def _model(task: Task, asked: Teacher) -> nn.Module:
    """ConfigError where its run reads or says something else than this one."""
    teacher: Task = load(asked.run)
    if problems := _differences(teacher, task):
        title = f"train.teacher: {asked.run} cannot teach this run:"
        cure = "Train both as one task on the same data.train, with the same sections text and labels."
        raise ConfigError(f"{listing(title, problems)}\n{cure}")
    model: nn.Module = teacher.for_inference().model.to(task.device)
    return model.requires_grad_(False)


def _differences(teacher: Any, task: Any) -> list[str]:
    if type(teacher) is not type(task):
        return [f"it is of task {type(teacher).__name__.lower()}, not {type(task).__name__.lower()}"]
    theirs, ours = _spoken(teacher), _spoken(task)
    said = [f"its {what} is another than here" for what in {**theirs, **ours} if theirs.get(what) != ours.get(what)]
    if said:
        said += [f"it has {' and '.join(teacher.sides())}; here: {' and '.join(task.sides())}"]
    if teacher.limit < task.limit:
        said.append(f"it reads {teacher.limit:.0f} tokens at most, and this one {task.limit:.0f}")
    return said


def _spoken(task: Task) -> dict[str, Any]:
    """What the ids of a task stand for."""
    with TemporaryDirectory() as name:
        task.describe(Path(name))
        files = {file.name: file.read_text("utf-8") for file in Path(name).glob("*tokenizer.json")}
        about = read_json(Path(name) / "task.json")
    return files | {f"list of {key}": about[key] for key in ("labels", "tags") if key in about}
