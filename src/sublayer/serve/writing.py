"""What the doors share of tasks that write: options, limits, answers, tokens as they come."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from pydantic import BaseModel
from torch import Tensor

from sublayer.errors import ConfigError, DataError
from sublayer.generate import Decoding
from sublayer.generate.decoding import hypothesis
from sublayer.serve.door import Event, Size, characters
from sublayer.serve.limits import Limits
from sublayer.tasks.attend import picture
from sublayer.tasks.base import Prediction
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Writer, length_rule, longest_answers, tokens
from sublayer.tasks.streaming import Unfolding
from sublayer.text import AnyTokenizer


class Linked(BaseModel):
    """links  numbers of a word of the text and of a word of the answer, from 0"""

    source: list[str]
    target: list[str]
    links: list[tuple[int, int]]


class Answer(BaseModel):
    """score  log-probability under the length rule, by which answers are ranked; null where nothing could be written
    logp       plain sum over the tokens
    finished   false where the answer was cut at the longest length allowed
    alignment  which words belong together, where that was asked for
    """

    text: str
    score: float | None
    logp: float | None
    tokens: list[str]
    token_logps: list[float | None]
    finished: bool
    alignment: Linked | None = None


class Asked(NamedTuple):
    """The settings of a request: two that are equal may be answered together."""

    search: Search
    alignments: bool = False


class Aim(NamedTuple):
    """The answer whose attention is drawn; None: the model's own."""

    target: str | None


class WritingDoor(ABC):
    """task   the model as it was loaded, whose attention can be recorded
    quick   the same as it answers fastest: in inference form, or with another engine
    """

    options: type[BaseModel]
    answers: Any = list[Answer]
    example = "a b"
    engine = "native"

    def __init__(self, task: Any, quick: Any, limits: Limits) -> None:
        self.slow, self.quick, self.limits = task, quick, limits

    def about(self) -> dict[str, Any]:
        defaults = self.slow.search.model_dump(mode="json")
        return {"engine": self.engine, "defaults": defaults, "tokens": int(self.longest)}

    def settings(self, options: Mapping[str, Any]) -> Asked:
        given = self.options.model_validate(options).model_dump(exclude_none=True)
        alignments = given.pop("alignments", False)
        values = self.slow.search.model_dump(exclude_unset=True) | given
        if "beam" in given and "nbest" not in given:
            values["nbest"] = min(values.get("nbest", 1), given["beam"])
        return Asked(Search.model_validate(values), alignments)

    def size(self, text: str, settings: Asked) -> Size:
        limits, rows = self.limits, settings.search.rows
        tokens = self.tokens(text, int(self.longest), "text")
        longest = min(settings.search.max_ratio * tokens + settings.search.max_extra, self.slow.limit)
        if rows > limits.hypotheses:
            raise ConfigError(f"{rows} hypotheses side by side, and at most {limits.hypotheses} are computed here.")
        if rows * longest > limits.written:
            raise ConfigError(
                f"{rows} hypotheses of up to {longest:.0f} tokens, and at most {limits.written} tokens are written for "
                "a text: shorten the text, or lower beam, nbest, max_ratio or max_extra."
            )
        return Size(tokens, rows)

    def answer(self, texts: Sequence[str], settings: Asked) -> Iterator[tuple[int, Event]]:
        for number, found in enumerate(self.predict(texts, settings)):
            yield number, {"answer": [answer_of(prediction) for prediction in found]}

    def stream(self, texts: Sequence[str], settings: Asked) -> Iterator[tuple[int, Event]]:
        search = settings.search
        whole = search.rows > 1 or search.require or search.replace_unknown or self.engine != "native"
        if whole or settings.alignments:  # which tokens are the answer's is known at the end only
            yield from self.answer(texts, settings)
            return
        for number, event in self.write(texts, search):
            yield number, {"answer": [answer_of(event)]} if isinstance(event, Prediction) else event

    def aim(self, text: str, target: str | None) -> Aim:
        self.tokens(text, self.limits.pictured, "text")
        if target is not None:
            self.tokens(target, self.limits.pictured, "target")
        return Aim(target)

    def attention(self, texts: Sequence[str], settings: Aim) -> Iterator[tuple[int, Event]]:
        for number, text in enumerate(texts):
            target = settings.target
            if target is None:
                target = next(self.quick.predict([text], search=self.slow.search))[0].text
                self.tokens(target, self.limits.pictured, "target")
            yield number, {"answer": picture(self.slow, text, target).to_dict()}

    @property
    def longest(self) -> float:
        return min(self.limits.tokens, self.slow.limit)

    def tokens(self, text: str, most: int, side: str) -> int:
        """How many it has with the end token; DataError above `most`."""
        characters(text, self.limits)
        tokens = len(self.tokenizer(side).encode(text)) + 1
        if tokens > most:
            raise DataError(f"{side}: {tokens} tokens with </s>, and at most {most} are read: cut it.")
        return tokens

    @abstractmethod
    def tokenizer(self, side: str) -> AnyTokenizer:
        """Of the text or of the target."""

    @abstractmethod
    def predict(self, texts: Sequence[str], settings: Asked) -> Iterator[list[Prediction]]: ...

    @abstractmethod
    def write(self, texts: Sequence[str], search: Search) -> Iterator[tuple[int, Event | Prediction]]:
        """What `writes` gives, by the number of the text."""


@torch.inference_mode()
def writes(
    task: Writer, decoding: Decoding, ids: Sequence[Sequence[int]], search: Search, start: Tensor | None = None
) -> Iterator[tuple[int, Event | Prediction]]:
    """For each row `{token, text, logp}` for each token, where `text` is what it adds to the answer, and then the
    answer, which is what `predict` gives with these settings: one that `tokens` takes."""
    written = {row: Written(task.target, search) for row in range(len(ids))}
    limits = longest_answers(task, ids, search).tolist()
    for row, token, logp in tokens(task, decoding, ids, search, start):
        last = token == task.target.eos or len(written[row].tokens) + 1 == limits[row]
        yield row, written[row].add(token, logp, last)
        if last:
            yield row, written.pop(row).whole()
    yield from ((row, answer.whole()) for row, answer in written.items())  # nothing could come next


class Written:
    """The tokens of one answer so far."""

    def __init__(self, target: AnyTokenizer, search: Search) -> None:
        self.target, self.search = target, search
        self.tokens: list[int] = []
        self.logps: list[float] = []
        self.unfolding = Unfolding(target, search.stop_strings)

    def add(self, token: int, logp: float, last: bool) -> Event:
        self.tokens.append(token)
        self.logps.append(logp)
        text = self.unfolding.add(token) + (self.unfolding.rest() if last else "")
        return {"token": self.target.piece(token), "text": text, "logp": logp}

    def whole(self) -> Prediction:
        found = hypothesis(self.tokens, self.logps, self.target.eos, length_rule(self.search))
        return Prediction.of(found, self.target, self.search.stop_strings)


def answer_of(found: Prediction) -> dict[str, Any]:
    linked = found.alignment
    answer = Answer(
        text=found.text,
        score=_number(found.score),
        logp=_number(found.logp),
        tokens=list(found.tokens),
        token_logps=[_number(logp) for logp in found.token_logps],
        finished=found.finished,
        alignment=linked and Linked(source=list(linked.source), target=list(linked.target), links=list(linked.links)),
    )
    return answer.model_dump(exclude=None if linked else {"alignment"})


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
