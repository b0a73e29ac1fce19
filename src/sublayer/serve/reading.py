"""The doors of tasks that read texts, and those of `classify` and `tag`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sublayer.errors import ConfigError, DataError
from sublayer.serve.door import Event, Size, characters
from sublayer.serve.limits import Limits
from sublayer.tasks.attend import picture
from sublayer.tasks.classify import Classified
from sublayer.tasks.tag import Tagged


class NoOptions(BaseModel):
    """There is nothing to set."""

    model_config = ConfigDict(extra="forbid")


class Several(BaseModel):
    """How many answers are told."""

    model_config = ConfigDict(extra="forbid")

    n: int = Field(1, ge=1, le=32, description="of the best")


class ReadingDoor(ABC):
    """task   the model as it was loaded, whose attention can be recorded
    quick   the same in inference form
    """

    options: type[BaseModel] = NoOptions
    task: str
    answers: Any

    def __init__(self, task: Any, quick: Any, limits: Limits) -> None:
        self.slow, self.quick, self.limits = task, quick, limits

    def about(self) -> dict[str, Any]:
        return {"engine": "native", "defaults": {}, "tokens": int(self.longest)}

    def settings(self, options: Mapping[str, Any]) -> BaseModel:
        return self.options.model_validate(options, strict=True)

    def size(self, text: str, settings: BaseModel) -> Size:
        return Size(self._tokens(text, int(self.longest)), 1)

    def answer(self, texts: Sequence[str], settings: BaseModel) -> Iterator[tuple[int, Event]]:
        asked = settings.model_dump()
        for number, found in enumerate(self.quick.predict(texts, window=len(texts), **asked)):
            yield number, {"answer": self.told(found)}

    def stream(self, texts: Sequence[str], settings: BaseModel) -> Iterator[tuple[int, Event]]:
        return self.answer(texts, settings)

    def aim(self, text: str, target: str | None) -> None:
        if target is not None:
            raise ConfigError(f"A target is for models that write, and this one does not: {self.task}. Leave it out.")
        self._tokens(text, self.limits.pictured)

    def attention(self, texts: Sequence[str], settings: None) -> Iterator[tuple[int, Event]]:
        for number, text in enumerate(texts):
            yield number, {"answer": picture(self.slow, text).to_dict()}

    @property
    def longest(self) -> float:
        return self.limits.tokens

    def _tokens(self, text: str, most: int) -> int:
        characters(text, self.limits)
        tokens = self.count(text)
        if tokens > most:
            raise DataError(f"text: {tokens} tokens with specials, and at most {most} are read: cut it.")
        return tokens

    @abstractmethod
    def count(self, text: str) -> int:
        """Tokens with specials. DataError for a text that cannot be read."""

    @abstractmethod
    def told(self, found: Any) -> dict[str, Any]:
        """An answer as plain values."""


class Likely(BaseModel):
    label: str
    probability: float


class Classes(BaseModel):
    """labels  what the text is: the likeliest; where there may be several, those of probability above ½; [] of an empty
            text
    scores  of every label, the likeliest first
    """

    labels: list[str]
    scores: list[Likely]


class ClassifyDoor(ReadingDoor):
    task, answers = "classify", Classes

    @property
    def example(self) -> str:
        return "\t".join(["a b"] * self.slow.labels.texts)

    @property
    def longest(self) -> float:
        return min(self.limits.tokens, self.slow.limit)

    def about(self) -> dict[str, Any]:
        labels = self.slow.labels
        return super().about() | {"labels": labels.names, "texts": labels.texts, "several": labels.several}

    def count(self, text: str) -> int:
        parts, texts = text.split("\t"), self.slow.labels.texts
        if text.strip() and len(parts) != texts:
            needed = "one text" if texts == 1 else "two texts with a tab between them"
            raise DataError(f"{needed} needed, and {len(parts)} came.")
        (ids,) = self.slow.encode([parts])
        return len(ids)

    def told(self, found: Classified) -> dict[str, Any]:
        return {
            "labels": list(found.labels),
            "scores": [{"label": label, "probability": p} for label, p in found.scores.items()],
        }


class Marked(BaseModel):
    """Words from `start` to before `end`."""

    kind: str
    start: int
    end: int


class Tags(BaseModel):
    """One tag a word, how likely it is, and the spans that B- and I- tags mark."""

    words: list[str]
    tags: list[str]
    scores: list[float]
    spans: list[Marked]


class TagDoor(ReadingDoor):
    task, answers, example = "tag", Tags, "a b"

    def about(self) -> dict[str, Any]:
        return super().about() | {"tags": self.slow.tags, "bio": self.slow.bio}

    def count(self, text: str) -> int:
        return sum(map(len, self.slow.tokenizer.encode_words(text.split()))) + 2

    def told(self, found: Tagged) -> dict[str, Any]:
        return {
            "words": list(found.words),
            "tags": list(found.tags),
            "scores": list(found.scores),
            "spans": [span._asdict() for span in found.spans],
        }
