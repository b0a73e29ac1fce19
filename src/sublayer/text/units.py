"""Tokens and the words that they make up."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

Slice = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Words:
    """A text as tokens and as words.

    ids    its tokens
    texts  its words
    of     for each token the number of the word that it belongs to; -1 where it is white space
    """

    ids: tuple[int, ...]
    texts: tuple[str, ...]
    of: tuple[int, ...]

    @classmethod
    def between_spaces(cls, text: str, ids: Sequence[int], slices: Sequence[Slice]) -> Self:
        """Words are the longest runs without white space. A token belongs to the last one that its slice touches."""
        words = list(re.finditer(r"\S+", text))
        starts = [word.start() for word in words]

        def word(start: int, end: int) -> int:
            last = bisect_left(starts, end) - 1
            return last if last >= 0 and start < words[last].end() else -1

        return cls(tuple(ids), tuple(w.group() for w in words), tuple(word(*place) for place in slices))

    @classmethod
    def one_a_token(cls, ids: Sequence[int], texts: Sequence[str]) -> Self:
        return cls(tuple(ids), tuple(texts), tuple(range(len(ids))))
