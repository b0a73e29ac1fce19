"""The door of `translate`: hypotheses for a text, token by token where search allows it, and attention."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from sublayer.errors import ConfigError, DataError
from sublayer.serve.door import Event, Size
from sublayer.serve.limits import Limits
from sublayer.serve.options import options_of
from sublayer.serve.writing import writes
from sublayer.tasks.attend import picture
from sublayer.tasks.base import Prediction
from sublayer.tasks.search import Search
from sublayer.tasks.translate import Translate


class Answer(BaseModel):
    """score  log-probability under the length rule, by which answers are ranked; null where nothing could be written
    logp      plain sum over the tokens
    finished  false where the answer was cut at the longest length allowed
    """

    text: str
    score: float | None
    logp: float | None
    tokens: list[str]
    token_logps: list[float | None]
    finished: bool


class Aim(NamedTuple):
    """The answer whose attention is drawn; None: the model's own."""

    target: str | None


class TranslateDoor:
    """task   the model as it was loaded, whose attention can be recorded
    quick   the same as it answers fastest: in inference form, or with another engine
    """

    task = "translate"
    options = options_of(Search)
    answers: Any = list[Answer]

    def __init__(self, task: Translate, quick: Translate, limits: Limits) -> None:
        self.slow, self.quick, self.limits = task, quick, limits

    def about(self) -> dict[str, Any]:
        defaults = self.slow.search.model_dump(mode="json")
        return {"engine": self.quick.engine.name, "defaults": defaults, "tokens": int(self._longest)}

    def settings(self, options: Mapping[str, Any]) -> Search:
        given = self.options.model_validate(options).model_dump(exclude_none=True)
        values = self.slow.search.model_dump(exclude_unset=True) | given
        if "beam" in given and "nbest" not in given:
            values["nbest"] = min(values.get("nbest", 1), given["beam"])
        return Search.model_validate(values)

    def size(self, text: str, settings: Search) -> Size:
        limits, rows = self.limits, settings.rows
        tokens = self._tokens(text, int(self._longest), "text")
        longest = min(settings.max_ratio * tokens + settings.max_extra, self.slow.limit)
        if rows > limits.hypotheses:
            raise ConfigError(f"{rows} hypotheses side by side, and at most {limits.hypotheses} are computed here.")
        if rows * longest > limits.written:
            raise ConfigError(
                f"{rows} hypotheses of up to {longest:.0f} tokens, and at most {limits.written} tokens are written for "
                "a text: shorten the text, or lower beam, nbest, max_ratio or max_extra."
            )
        return Size(tokens, rows)

    def answer(self, texts: Sequence[str], settings: Search) -> Iterator[tuple[int, Event]]:
        for number, found in enumerate(self.quick.predict(texts, search=settings, window=len(texts))):
            yield number, {"answer": [_answer(prediction) for prediction in found]}

    def stream(self, texts: Sequence[str], settings: Search) -> Iterator[tuple[int, Event]]:
        whole = settings.rows > 1 or settings.require or self.quick.engine.name != "native"
        if whole:  # which tokens are the answer's is known at the end only
            yield from self.answer(texts, settings)
            return
        for number, event in writes(self.quick, texts, settings):
            yield number, {"answer": [_answer(event)]} if isinstance(event, Prediction) else event

    def aim(self, text: str, target: str | None) -> Aim:
        self._tokens(text, self.limits.pictured, "text")
        if target is not None:
            self._tokens(target, self.limits.pictured, "target")
        return Aim(target)

    def attention(self, texts: Sequence[str], settings: Aim) -> Iterator[tuple[int, Event]]:
        for number, text in enumerate(texts):
            target = settings.target
            if target is None:
                target = next(self.quick.predict([text], search=self.slow.search))[0].text
                self._tokens(target, self.limits.pictured, "target")
            yield number, {"answer": picture(self.slow, text, target).to_dict()}

    @property
    def _longest(self) -> float:
        return min(self.limits.tokens, self.slow.limit)

    def _tokens(self, text: str, most: int, side: str) -> int:
        """How many it has with the end token; DataError above `most`."""
        if len(text) > self.limits.characters:
            raise DataError(f"{len(text)} characters, and at most {self.limits.characters} are read: cut the text.")
        tokenizer = self.slow.source if side == "text" else self.slow.target
        tokens = len(tokenizer.encode(text)) + 1
        if tokens > most:
            raise DataError(f"{side}: {tokens} tokens with </s>, and at most {most} are read: cut it.")
        return tokens


def _answer(found: Prediction) -> dict[str, Any]:
    answer = Answer(
        text=found.text,
        score=_number(found.score),
        logp=_number(found.logp),
        tokens=list(found.tokens),
        token_logps=[_number(logp) for logp in found.token_logps],
        finished=found.finished,
    )
    return answer.model_dump()


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
