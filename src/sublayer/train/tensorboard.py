"""Records for TensorBoard (the extra `tensorboard`)."""

from pathlib import Path
from typing import Any

from sublayer.errors import ConfigError
from sublayer.train.report import Progress


class TensorBoard:
    """Writes every number of a record under its name."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ConfigError(
                "train.tensorboard is true and TensorBoard is not installed: pip install 'sublayer[tensorboard]'"
            ) from None
        self.writer = SummaryWriter(str(folder))

    def step(self, progress: Progress) -> None: ...

    def record(self, line: dict[str, Any]) -> None:
        for name, value in line.items():
            if isinstance(value, int | float) and name != "step":
                self.writer.add_scalar(name, value, line["step"])
        self.writer.flush()

    def message(self, text: str) -> None: ...
