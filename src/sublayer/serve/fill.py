"""The door of `fill`: what may stand in the blanks of a text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sublayer.serve.door import Size
from sublayer.serve.reading import ReadingDoor
from sublayer.tasks.blanks import Filled


class Guesses(BaseModel):
    """How many tokens are told for each blank."""

    model_config = ConfigDict(extra="forbid")

    n: int = Field(5, ge=1, le=32, description="of the likeliest")


class Guess(BaseModel):
    token: str
    probability: float


class FilledText(BaseModel):
    """The text with the likeliest token in each blank, and for each blank the likeliest, the likeliest first."""

    text: str
    blanks: list[list[Guess]]


class FillDoor(ReadingDoor):
    task, answers = "fill", FilledText
    options = Guesses

    @property
    def example(self) -> str:
        return f"a {self.slow.spelled} b"

    @property
    def longest(self) -> float:
        return min(self.limits.tokens, self.slow.limit)

    def about(self) -> dict[str, Any]:
        return super().about() | {"blank": self.slow.spelled}

    def count(self, text: str) -> int:
        return len(self.slow.blanked(text))

    def told(self, found: Filled) -> dict[str, Any]:
        return {"text": found.text, "blanks": [[asdict(guess) for guess in each] for each in found.blanks]}


class SpansDoor(FillDoor):
    """The same answers, looked for side by side."""

    def size(self, text: str, settings: BaseModel) -> Size:
        rows = max(self.slow.search.beam, settings.model_dump()["n"])
        return super().size(text, settings)._replace(rows=rows)
