"""Records for Weights & Biases (the extra `wandb`)."""

import secrets
from pathlib import Path
from typing import Any

from sublayer.errors import ConfigError
from sublayer.models.files import write_text
from sublayer.train.report import Progress


class Wandb:
    """Logs every number of a record to a project, under the name of the run folder.

    A run that is resumed goes on where it was: its id lies in the folder.
    """

    def __init__(self, project: str, folder: Path) -> None:
        try:
            import wandb
        except ImportError:
            raise ConfigError("train.wandb is set and wandb is not installed: pip install 'sublayer[wandb]'") from None
        held = folder / "wandb-id"
        if not held.exists():
            write_text(held, secrets.token_hex(8))
        known = held.read_text(encoding="utf-8")
        self.run = wandb.init(project=project, name=folder.name, dir=str(folder), id=known, resume="allow")

    def step(self, progress: Progress) -> None: ...

    def record(self, line: dict[str, Any]) -> None:
        numbers = {name: value for name, value in line.items() if isinstance(value, int | float) and name != "step"}
        self.run.log(numbers, step=line["step"])

    def message(self, text: str) -> None: ...
