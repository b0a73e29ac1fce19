"""Records for Trackio (the extra `trackio`)."""

import atexit
from pathlib import Path
from typing import Any

from sublayer.errors import ConfigError
from sublayer.train.report import Progress


class Trackio:
    """Logs every number of a record to a project, under the name of the run folder. A run that is resumed goes on."""

    def __init__(self, project: str, folder: Path) -> None:
        try:
            import trackio
        except ImportError:
            raise ConfigError(
                "train.trackio is set and trackio is not installed: pip install 'sublayer[trackio]'"
            ) from None
        self.run = trackio.init(project=project, name=folder.name, resume="allow")
        atexit.register(self.run.finish)

    def step(self, progress: Progress) -> None: ...

    def record(self, line: dict[str, Any]) -> None:
        numbers = {name: value for name, value in line.items() if isinstance(value, int | float) and name != "step"}
        self.run.log(numbers, step=line["step"])

    def message(self, text: str) -> None: ...
