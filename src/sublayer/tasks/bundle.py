"""From a run folder to a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sublayer.errors import CheckpointError, ConfigError
from sublayer.models.config import KINDS, ModelConfig
from sublayer.models.files import read_json
from sublayer.models.store import load_weights
from sublayer.tasks.base import Job, Task
from sublayer.tasks.folder import FORMAT, published_task
from sublayer.tasks.jobs import JOBS, job_of
from sublayer.tasks.published import from_pretrained


def load(run: str | Path, *, weights: bool = True, trust_code: bool = False) -> Any:
    """The task object of a run folder, ready to predict: `Translate`, `Classify`, … as the folder says. Also
    that of a published folder with vectors of texts (`Embed`), a masked language model (`Fill`) or spans (`Answer`).

    trust_code  let config.json name classes of your own, `package.module:Class`: for folders that you made

    CheckpointError where something is missing or wrong.
    """
    folder = Path(run)
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is no run folder: there is no such folder.")
    if published_task(folder) is not None:
        return _published(folder)
    about = read_json(folder / "task.json")
    name = about.get("task")
    if about.get("format") != FORMAT or name not in JOBS:
        raise CheckpointError(
            f"{folder / 'task.json'} says format {about.get('format')!r}, task {name!r}; "
            f"this version reads format {FORMAT}, task {' or '.join(map(repr, JOBS))}."
        )
    job = job_of(name)
    task: Task = job.load(folder, about, _config(folder / "config.json", name, job, trust_code))
    if weights:
        load_weights(task.model, folder / "model.safetensors")
    task.model.eval()
    return task


def _published(folder: Path) -> Task:
    task = from_pretrained(folder)
    if not isinstance(task, Task):
        raise CheckpointError(f"{folder} holds a published model without a vocabulary that can be read.")
    return task


def _config(path: Path, task: str, job: Job, trust_code: bool) -> ModelConfig:
    try:
        config = ModelConfig.read(read_json(path))
    except ConfigError as error:
        raise CheckpointError(f"{path}: {error}") from None
    own = [kind for part in KINDS if ":" in (kind := getattr(config, part).kind)]
    if own and not trust_code:
        raise CheckpointError(
            f"{path} names code to be imported: {', '.join(own)}. If the run is yours, say so: trust_code=True, "
            "on the command line --trust-code."
        )
    possible = (job.architecture, *job.others)
    if config.architecture not in possible:
        raise CheckpointError(
            f"{path}: task {task!r} needs an {' or an '.join(possible)}, not {config.architecture!r}."
        )
    return config
