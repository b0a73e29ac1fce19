"""Texts made incomplete, so that a model learns to complete them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Random = np.random.Generator


def chosen(n: int, rate: float, random: Random) -> list[int]:
    """Which of n tokens are to be guessed: round(rate · n), and one at least; in order."""
    if n == 0:
        return []
    return sorted(random.choice(n, size=max(1, round(rate * n)), replace=False).tolist())


@dataclass(frozen=True)
class Masking:
    """Devlin et al. 2019, section 3.1: of the chosen tokens 80 % become the mask, 10 % any token, 10 % stay.

    mask    the id of the mask
    others  what may stand for a token: the whole vocabulary without specials
    rate    how many are chosen
    """

    mask: int
    others: Sequence[int]
    rate: float = 0.15

    def __call__(self, ids: Sequence[int], random: Random) -> tuple[list[int], list[int]]:
        """The ids to read, and the places to guess: ids without specials."""
        places = chosen(len(ids), self.rate, random)
        corrupted = list(ids)
        for place, fate in zip(places, random.random(len(places)), strict=True):
            if fate < 0.8:
                corrupted[place] = self.mask
            elif fate < 0.9:
                corrupted[place] = self.others[int(random.integers(len(self.others)))]
        return corrupted, places


@dataclass(frozen=True)
class SpanCorruption:
    """Raffel et al. 2020, section 3.1.4: each span that is left out becomes a sentinel of its own in the source; the
    target is each sentinel with its span behind it, and one sentinel more. A span may begin or end the text: their code
    always begins with a kept token and ends with a span, which of short texts would leave out nothing but their end.

    sentinels  ids, in the order in which they stand; one more is needed than there are spans
    rate       how many tokens are left out
    mean       tokens of a span
    """

    sentinels: Sequence[int]
    rate: float = 0.15
    mean: float = 3.0

    def __call__(self, ids: Sequence[int], random: Random) -> tuple[list[int], list[int]]:
        """Source and target, without specials. A text of one token cannot be both: it is left whole."""
        source: list[int] = []
        target: list[int] = []
        at = 0
        kept, left_out = self._lengths(len(ids), random)
        for sentinel, before, span in zip(self.sentinels, kept, left_out, strict=False):
            source += [*ids[at : at + before], sentinel]
            target += [sentinel, *ids[at + before : at + before + span]]
            at += before + span
        return [*source, *ids[at:]], [*target, self.sentinels[len(left_out)]]

    def _lengths(self, n: int, random: Random) -> tuple[list[int], list[int]]:
        """Of each stretch that is kept, the first and the last of which may be empty, and of each span between two."""
        if n < 2:
            return [], []
        noise = min(max(round(n * self.rate), 1), n - 1)
        spans = min(max(round(noise / self.mean), 1), noise, n - noise, len(self.sentinels) - 1)
        first, *inner = parts(n - noise + 2, spans + 1, random)
        return [first - 1, *inner[:-1], inner[-1] - 1], parts(noise, spans, random)


def parts(n: int, count: int, random: Random) -> list[int]:
    """n in so many parts of 1 or more, each way of dividing equally likely."""
    cuts = np.sort(random.choice(n - 1, size=count - 1, replace=False)) + 1
    return np.diff([0, *cuts, n]).tolist()
