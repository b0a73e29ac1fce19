"""The door of `embed`: a vector a text."""

from __future__ import annotations

from pydantic import BaseModel
from torch import Tensor

from sublayer.serve.reading import ReadingDoor


class Vector(BaseModel):
    """All zeros of an empty text."""

    vector: list[float]


class EmbedDoor(ReadingDoor):
    task, answers, example = "embed", Vector, "a b"

    def count(self, text: str) -> int:
        (ids,) = self.slow.encode([[text]])
        return len(ids)

    def told(self, found: Tensor) -> dict[str, list[float]]:
        return {"vector": found.tolist()}
