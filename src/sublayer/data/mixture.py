"""Several corpora that are learned from together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Generic, TypeVar, overload

import numpy as np

T = TypeVar("T")


class Joined(Sequence[T], Generic[T]):
    """Sequences end to end, and how often each of them is drawn.

        p_i ∝ w_i n_i^(1/T)        Arivazhagan et al. 2019, section 4.2

    for n_i examples, weight w_i and temperature T: at 1 each example is as likely as any other of its weight, and the
    higher it is the more alike are the corpora.
    """

    def __init__(self, parts: Sequence[Sequence[T]], weights: Sequence[float], temperature: float = 1.0) -> None:
        self.parts, self.weights, self.temperature = parts, weights, temperature
        self.ends = list(accumulate(map(len, parts)))

    def over(self, parts: Sequence[Sequence[T]]) -> Joined[T]:
        """Others in their place, drawn as often."""
        return Joined(parts, self.weights, self.temperature)

    def __len__(self) -> int:
        return self.ends[-1]

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.parts)

    @overload
    def __getitem__(self, row: int) -> T: ...
    @overload
    def __getitem__(self, row: slice) -> list[T]: ...
    def __getitem__(self, row: int | slice) -> T | list[T]:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        part = bisect_right(self.ends, row)
        return self.parts[part][row - self.ends[part] + len(self.parts[part])]

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """Which examples an epoch has, in which order: as many as there are, corpus i with the share p_i of them. One
        that gives more than it has gives all of itself before any comes again."""
        counts = np.array([len(part) for part in self.parts])
        odds = np.array(self.weights) * counts ** (1 / self.temperature)
        wanted = np.round(odds / odds.sum() * len(self)).astype(int)
        drawn = [
            end - count + _some(random, count, share)
            for end, count, share in zip(self.ends, counts, wanted, strict=True)
        ]
        return random.permutation(np.concatenate(drawn))


def _some(random: np.random.Generator, count: int, wanted: int) -> np.ndarray:
    whole, rest = divmod(wanted, count)
    return np.concatenate([*[np.arange(count)] * whole, random.permutation(count)[:rest]])
