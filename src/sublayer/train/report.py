"""What a run tells while it goes on. A listener is handed in; several are joined by `Listeners`."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sublayer.models.files import write_text


@dataclass(frozen=True)
class Progress:
    """One update.

    loss         the mean of -log p a token since the last record
    spent, left  seconds
    padding      the part of the batches' places that holds nothing, 0 to 1, since the process began
    memory, gpu  bytes that the process holds; 0 where it is not known
    """

    step: int
    steps: int
    epoch: int
    loss: float
    rate: float
    tokens_per_second: float
    spent: float
    left: float
    padding: float = 0.0
    memory: int = 0
    gpu: int = 0


@runtime_checkable
class Padded(Protocol):
    """A batch, or a part of one, that knows how many of its places hold a token."""

    @property
    def places(self) -> int: ...

    @property
    def filled(self) -> int: ...


def places_of(batch: Any) -> tuple[int, int]:
    """How many places there are in the parts of a batch that know it, and how many of them hold a token."""
    parts = [part for part in (batch if isinstance(batch, tuple) else (batch,)) if isinstance(part, Padded)]
    return sum(part.places for part in parts), sum(part.filled for part in parts)


def resident() -> int:
    """Bytes of memory that this process holds, as Linux tells it; 0 elsewhere."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class Listener(Protocol):
    def step(self, progress: Progress) -> None: ...

    def record(self, line: dict[str, Any]) -> None:
        """A line of metrics: the same, number for number, in a run that was stopped and resumed."""

    def message(self, text: str) -> None: ...


class Listeners:
    """Tells all of them."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self.listeners = listeners

    def step(self, progress: Progress) -> None:
        for listener in self.listeners:
            listener.step(progress)

    def record(self, line: dict[str, Any]) -> None:
        for listener in self.listeners:
            listener.record(line)

    def message(self, text: str) -> None:
        for listener in self.listeners:
            listener.message(text)


class JsonLines:
    """Appends each record to a file. `after` drops the lines that a resumed run is about to write again."""

    def __init__(self, path: Path, *, after: int | None = None) -> None:
        self.path = path
        if after is not None and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if line.endswith("\n") and json.loads(line)["step"] <= after]
            write_text(path, "".join(kept))

    def step(self, progress: Progress) -> None: ...

    def record(self, line: dict[str, Any]) -> None:
        try:
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def message(self, text: str) -> None: ...
