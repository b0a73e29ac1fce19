"""Phrases that a text must hold."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from sublayer.errors import ConfigError, listing
from sublayer.generate.decoding import limits
from sublayer.generate.guided import one_a_row

Phrase = tuple[int, ...]


class Required:
    """A rule for ``Guided``: each text holds all phrases of its row, in any order and at any place.

    phrases  for each of the B rows its phrases, each a sequence of token ids
    max_len  as in the search

    EOS waits until all phrases are there, and no token comes after which the missing ones might not fit into
    ``max_len`` any more. So every text holds them, in any search, and its tokens keep the model's log-probabilities.
    Greedy search and sampling tend to put the phrases last; a beam search with ``Banks`` finds better places.

    Raises ConfigError or ShapeError for phrases that cannot be, or that do not fit one after the other.
    """

    def __init__(self, phrases: Sequence[Sequence[Sequence[int]]], eos: int, max_len: Tensor | int) -> None:
        self.longest = limits(max_len, len(phrases))
        self.eos = eos
        problems = [
            f"row {row} has {list(phrase)}: a phrase is one or more ids, each at least 0 and not EOS ({eos})."
            for row, given in enumerate(phrases)
            for phrase in given
            if not phrase or min(phrase) < 0 or eos in phrase
        ]
        self.phrases = [outermost(map(tuple, given)) for given in phrases]
        for row, (needed, longest) in enumerate(zip(self.phrases, self.longest, strict=True)):
            if (tokens := sum(map(len, needed))) > longest:
                problems.append(
                    f"row {row} has phrases of {tokens} tokens, and max_len={longest}: raise it to {tokens}."
                )
        if problems:
            raise ConfigError(listing("These phrases cannot be required:", problems))

    def __call__(self, logps: Tensor, written: Tensor, row: Tensor) -> Tensor:
        one_a_row("Required has phrases", len(self.phrases), written)
        for i, (sentence, text) in enumerate(zip(row.tolist(), map(tuple, written.tolist()), strict=True)):
            if missing := self.missing(sentence, text):
                logps[i, self.eos] = -torch.inf
                left = self.longest[sentence] - len(text) - 1
                if sum(map(len, missing)) > left:
                    tokens = {token for phrase in missing for token in phrase}
                    good = [token for token in tokens if self.need(sentence, (*text, token)) <= left]
                    kept = logps[i, good]
                    logps[i] = -torch.inf
                    logps[i, good] = kept
        return logps

    def missing(self, row: int, text: Phrase) -> list[Phrase]:
        """The phrases of a row that its text does not hold."""
        return [phrase for phrase in self.phrases[row] if not holds(text, phrase)]

    def need(self, row: int, text: Phrase) -> int:
        """How many more tokens surely suffice for what is missing: one phrase may have begun at the end of the text."""
        missing = self.missing(row, text)
        return sum(map(len, missing)) - max((begun(text, phrase) for phrase in missing), default=0)

    def onward(self, row: int, text: Phrase) -> set[int]:
        """The tokens that begin a missing phrase or go on with it."""
        return {phrase[begun(text, phrase)] for phrase in self.missing(row, text)}


def holds(text: Phrase, phrase: Phrase) -> bool:
    return any(text[i : i + len(phrase)] == phrase for i in range(len(text) - len(phrase) + 1))


def begun(text: Phrase, phrase: Phrase) -> int:
    """How many tokens of the phrase, but not all, stand at the end of the text."""
    return max(n for n in range(len(phrase)) if text[len(text) - n :] == phrase[:n])


def outermost(phrases: Iterable[Phrase]) -> list[Phrase]:
    """Each phrase once, and those not that stand in another one."""
    distinct = dict.fromkeys(phrases)
    return [phrase for phrase in distinct if not any(holds(other, phrase) for other in distinct if other != phrase)]
