"""Other ways to cut the same text into the tokens of a vocabulary, drawn by chance."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import exp, inf, log

from tokenizers import Tokenizer as Backend

from sublayer.errors import ConfigError
from sublayer.text.special import SPECIALS
from sublayer.text.tokenizer import Tokenizer

Draw = Callable[[], float]
"""Gives a number from [0, 1), another one each time."""


class Recut(ABC):
    """Called with the ids of a text and a source of chance: other ids of the same text.

    kind  of the vocabularies that it is for; ConfigError for any other
    """

    kind: str

    def __init__(self, tokenizer: Tokenizer) -> None:
        if tokenizer.kind != self.kind:
            raise ConfigError(f"{type(self).__name__} is for kind {self.kind!r}, not {tokenizer.kind!r}.")
        text = tokenizer.to_json()
        self.tokenizer, self.model, self._words = tokenizer, json.loads(text)["model"], Backend.from_str(text)
        self._ids = {token: i for i, token in enumerate(tokenizer.vocabulary)}

    def __call__(self, ids: Sequence[int], draw: Draw) -> list[int]:
        words = self._words.pre_tokenizer.pre_tokenize_str(self.tokenizer.decode(ids))
        return [self._ids[part] for word, _ in words for part in self.cut(word, draw)]

    @abstractmethod
    def cut(self, word: str, draw: Draw) -> list[str]:
        """A word into tokens, all as the vocabulary spells them."""


class BpeDropout(Recut):
    """Each time that merges are looked for, each possible one is left out with chance `p`. Provilkov et al. 2020,
    algorithm 1."""

    kind = "bpe"

    def __init__(self, tokenizer: Tokenizer, p: float) -> None:
        super().__init__(tokenizer)
        self.p = p
        self.ranks = {(a, b): rank for rank, (a, b) in enumerate(self.model["merges"])}

    def cut(self, word: str, draw: Draw) -> list[str]:
        parts = list(word)
        while True:
            known = [(self.ranks[pair], i) for i, pair in enumerate(pairwise(parts)) if pair in self.ranks]
            kept = [merge for merge in known if draw() >= self.p]
            if not kept:
                return parts
            _, i = min(kept)
            parts[i : i + 2] = [parts[i] + parts[i + 1]]


class UnigramSampling(Recut):
    """A cut x is drawn with P(x)^α / Σ P(x')^α over all cuts of the word. Kudo 2018, section 3.3, without its limit to
    the l best: sums run forward over the word, and tokens are drawn from its end."""

    kind = "unigram"

    def __init__(self, tokenizer: Tokenizer, alpha: float) -> None:
        super().__init__(tokenizer)
        self.weights = {piece: alpha * score for piece, score in self.model["vocab"][len(SPECIALS) :]}
        self.longest = max(map(len, self.weights))

    def cut(self, word: str, draw: Draw) -> list[str]:
        sums = [0.0]
        for end in range(1, len(word) + 1):
            sums.append(_log_sum([weight for _, weight in self._last(word, end, sums)]))
        parts, end = [], len(word)
        while end:
            starts, weights = zip(*self._last(word, end, sums), strict=True)
            reached = accumulate(exp(weight - sums[end]) for weight in weights)
            which = bisect([*reached][:-1], draw())
            parts.append(word[starts[which] : end])
            end = starts[which]
        return parts[::-1]

    def _last(self, word: str, end: int, sums: list[float]) -> list[tuple[int, float]]:
        """Where the last token of `word[:end]` may begin, with log Σ P^α of the cuts that have it."""
        starts = range(max(0, end - self.longest), end)
        return [(i, sums[i] + self.weights[word[i:end]]) for i in starts if word[i:end] in self.weights]


def _log_sum(weights: list[float]) -> float:
    most = max(weights, default=-inf)
    return most + log(sum(exp(weight - most) for weight in weights))
