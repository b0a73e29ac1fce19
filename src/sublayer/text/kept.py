"""What is kept in a file of its own."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

from sublayer.errors import CheckpointError
from sublayer.text.whole import write_whole


class Kept(ABC):
    """Written as JSON, and read back the same."""

    @abstractmethod
    def to_json(self) -> str: ...

    @classmethod
    @abstractmethod
    def from_json(cls, text: str) -> Self: ...

    def save(self, path: str | Path) -> None:
        """Write ``to_json`` as UTF-8; a reader sees the old file or the whole new one."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote; a leading byte-order mark is dropped. CheckpointError names the file."""
        try:
            return cls.from_json(Path(path).read_bytes().decode("utf-8-sig"))
        except FileNotFoundError:
            raise CheckpointError(f"{path}: there is no such file; a run keeps its tokenizer there.") from None
        except (CheckpointError, UnicodeDecodeError) as error:
            raise CheckpointError(f"{path}: {error}") from None
