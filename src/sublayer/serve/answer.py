"""The door of `answer`: where a text answers a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel

from sublayer.errors import DataError
from sublayer.serve.reading import ReadingDoor, Several
from sublayer.tasks.answer import Answered


class Stretch(BaseModel):
    """A stretch of the text, by its characters from `start` to before `end`; empty, 0 and 0 for no answer.

    score  log p(answer) - log p(no answer), less the model's threshold
    """

    text: str
    start: int
    end: int
    score: float


class AnswerDoor(ReadingDoor):
    """A text is a question and what may answer it, a tab between them."""

    task, answers, example = "answer", list[Stretch], "a\ta b"
    options = Several

    def about(self) -> dict[str, Any]:
        return super().about() | {"texts": 2}

    def count(self, text: str) -> int:
        parts = text.split("\t")
        if text.strip() and len(parts) != 2:
            raise DataError(f"a question and its text with a tab between them needed, and {len(parts)} came.")
        return sum(map(len, self.slow.encode([parts])))

    def told(self, found: Sequence[Answered]) -> Any:
        return [asdict(each) for each in found]
