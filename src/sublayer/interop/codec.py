"""How DeBERTa's settings are spelled: codecs beside those of `fields`."""

from dataclasses import dataclass
from typing import Any

from sublayer.errors import ConfigError


class Positive:
    """Theirs says that there is none with a number below 1."""

    def read(self, theirs: Any) -> Any:
        return theirs if theirs > 0 else None

    def write(self, ours: Any) -> Any:
        return -1 if ours is None else ours


@dataclass(frozen=True)
class Listed:
    """Some of these words, in any order, in a list or between bars."""

    words: tuple[str, ...]

    def read(self, theirs: Any) -> Any:
        said = [word.strip() for word in theirs.lower().split("|")] if isinstance(theirs, str) else list(theirs)
        if not said or not set(said) <= set(self.words):
            raise ConfigError(f"is {theirs!r}, expected some of {', '.join(self.words)}")
        return [word for word in self.words if word in said]

    def write(self, ours: Any) -> Any:
        return list(ours or ())
