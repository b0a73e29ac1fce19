"""A task as the service sees it. One small class a task stands behind this door."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel

from sublayer.errors import DataError
from sublayer.serve.limits import Limits

Event = Mapping[str, Any]
"""Plain values that go to whoever asked. The last of a text's events has the key `answer`."""


class Size(NamedTuple):
    """What a text costs: tokens · rows that are computed side by side."""

    tokens: int
    rows: int


class Door(Protocol):
    """task      its name, by which the page finds the view of its answers
    options   what a request may set, none of it required, all of it bounded
    answers   what `answer` holds, for the description of the interface
    example   a text that it answers
    """

    task: str
    example: str
    options: type[BaseModel]
    answers: Any

    def about(self) -> dict[str, Any]:
        """What a client has to know: the engine, and the settings where a request says nothing."""

    def settings(self, options: Mapping[str, Any]) -> Any:
        """The request's options over the run's settings; two that are equal ask for the same.

        ValidationError or ConfigError for what cannot be.
        """

    def size(self, text: str, settings: Any) -> Size:
        """DataError or ConfigError where the text, or what is asked of it, goes beyond a limit."""

    def answer(self, texts: Sequence[str], settings: Any) -> Iterator[tuple[int, Event]]:
        """For each text, by its number, its answer. What a text gets does not depend on its neighbours."""

    def stream(self, texts: Sequence[str], settings: Any) -> Iterator[tuple[int, Event]]:
        """Likewise, with the pieces of each answer, where it comes in pieces, as they are found."""

    def attention(self, texts: Sequence[str], settings: Any) -> Iterator[tuple[int, Event]]:
        """Likewise, what the model looks at; `settings` are what `aim` gave."""

    def aim(self, text: str, target: str | None) -> Any:
        """What `attention` is to draw. DataError where it would be too large."""


def characters(text: str, limits: Limits) -> None:
    """DataError for too long a text, which is not cut into tokens then."""
    if len(text) > limits.characters:
        raise DataError(f"{len(text)} characters, and at most {limits.characters} are read: cut the text.")
