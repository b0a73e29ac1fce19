"""What may stand in the blanks of a text, and how it is told."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile

from sublayer.errors import ConfigError
from sublayer.generate import Hypothesis
from sublayer.tasks.base import Written
from sublayer.text import AnyTokenizer, PublishedSide

MASK = "[MASK]"
"""How a blank is written where the vocabulary has no spelling of its own."""

SENTINELS = 100
"""Behind a vocabulary of our own there are so many: a text has fewer blanks than that. As T5 has it."""


@dataclass(frozen=True, slots=True)
class Guess:
    """token  what may stand there: of a model that writes spans, all of a span"""

    token: str
    probability: float


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with the likeliest in each blank, and for each blank what is likely, the likeliest first."""

    text: str
    blanks: tuple[tuple[Guess, ...], ...]


def written(predict: Callable[..., Iterable[Filled]], how: Written) -> Iterator[str]:
    """The filled text a line; or number, probability and token, a line each, of each blank in turn."""
    n = how.nbest if how.nbest > 1 or not how.as_json else 5
    for number, found in enumerate(predict(n=n), how.first):
        if how.as_json:
            yield json.dumps({"line": number, **asdict(found)}, ensure_ascii=False)
        elif how.nbest > 1:
            guesses = [guess for blank in found.blanks for guess in blank] or [Guess("", 1.0)]
            yield from (f"{number}\t{guess.probability:.6f}\t{guess.token}" for guess in guesses)
        elif how.scores:
            yield f"{math.prod(blank[0].probability for blank in found.blanks):.6f}\t{found.text}"
        else:
            yield found.text


def parts(text: str, spelled: str, *, joined: bool) -> list[str]:
    """What stands before, between and behind the blanks. Where tokens hold the space before them (`joined`), the one
    before a blank is part of what is missing."""
    found = text.split(spelled)
    return [*(part.removesuffix(" ") for part in found[:-1]), found[-1]] if joined else found


def span_behind(sentinel: int, answer: Hypothesis, sentinels: Collection[int]) -> tuple[Sequence[int], float]:
    """The ids behind this sentinel, up to the next one, and how likely they and that are after what stands before."""
    if sentinel not in answer.tokens:
        return (), 0.0
    start = answer.tokens.index(sentinel) + 1
    stop = next((i for i in range(start, len(answer.tokens)) if answer.tokens[i] in sentinels), len(answer.tokens))
    return answer.tokens[start:stop], math.exp(sum(answer.token_logps[start : stop + 1]))


def sentinels_of(words: AnyTokenizer) -> list[int]:
    """Behind a vocabulary of our own; of a published one those that it has. ConfigError where it has none."""
    if not isinstance(words, PublishedSide):
        return list(range(words.vocab_size, words.vocab_size + SENTINELS))
    spelled = {token.removeprefix("▁"): id for id, token in enumerate(words.vocabulary)}
    found = list(takewhile(lambda id: id is not None, (spelled.get(f"<extra_id_{n}>") for n in range(len(spelled)))))
    if len(found) < 2:
        raise ConfigError(
            "The vocabulary has no sentinels <extra_id_0>, <extra_id_1>, …, so no spans can be left out: name one of "
            "T5's kind."
        )
    return [id for id in found if id is not None]
