"""Some of the answers of each validation, told and kept."""

from pathlib import Path
from typing import Any

from sublayer.models.files import write_text
from sublayer.train.report import Listener, Progress


class Samples:
    """After each validation the first `count` lines of samples/valid.tsv go to samples/step-N.tsv and to `listener`."""

    def __init__(self, run: Path, count: int, listener: Listener) -> None:
        self.folder, self.count, self.listener = run / "samples", count, listener

    def step(self, progress: Progress) -> None: ...

    def record(self, line: dict[str, Any]) -> None:
        newest = self.folder / "valid.tsv"
        if not any(name.startswith("valid_") for name in line) or not newest.exists():
            return
        lines = newest.read_text(encoding="utf-8").split("\n")[: self.count]
        lines = [text for text in lines if text]
        write_text(self.folder / f"step-{line['step']:08d}.tsv", "".join(f"{text}\n" for text in lines))
        for text in lines:
            self.listener.message("  " + "  |  ".join(text.split("\t")))

    def message(self, text: str) -> None: ...
