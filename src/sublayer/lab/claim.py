"""A claim as data: what is said where, how it is measured, and what would refute it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

T = TypeVar("T")
Size = Literal["tiny", "quick", "full"]
Point = tuple[float | str, float]


class Text(NamedTuple):
    """The same in both languages of the report."""

    en: str
    zh: str


@dataclass(frozen=True)
class Bench:
    """What a measurement is made with.

    size    tiny (does it run?), quick (a minute), full (ten minutes)
    minilm  folder of the published all-MiniLM-L6-v2
    data    folder of data that is not shipped: `tagging/ud_english_ewt_upos` and `similarity/stsb_en`
    """

    size: Size = "quick"
    minilm: Path | None = None
    data: Path | None = None

    def choose(self, tiny: T, quick: T, full: T) -> T:
        return {"tiny": tiny, "quick": quick, "full": full}[self.size]


@dataclass(frozen=True)
class Measured:
    """What one seed gives: numbers to judge by, and curves (name -> points) to look at."""

    numbers: Mapping[str, float]
    curves: Mapping[str, Sequence[Point]]


@dataclass(frozen=True)
class Prediction:
    """A measured number lies in [least, most] if the claim is right.

    limit  the claim says so only where it is read widely: what fails here limits it and does not refute it
    """

    number: str
    says: Text
    least: float = -inf
    most: float = inf
    limit: bool = False


@dataclass(frozen=True)
class Chart:
    """Names of the axes.

    log      the letters of those that are logarithmic
    against  the x whose value is taken off all others of the same seed, where what counts is the difference
    """

    x: str
    y: str
    log: str = ""
    against: float | str | None = None


@dataclass(frozen=True)
class Claim:
    """One claim of the tutorials.

    place    the tutorial (A, B or C) and where in it
    measure  measure(seed, bench): torch's generator starts from the seed
    needs    what a bench must have, beside its size
    seeds    how many there are unless told otherwise
    first    the first of them; above 0 where a look at earlier ones had a part in the ranges
    """

    id: str
    place: Text
    statement: Text
    method: Text
    refuted_by: Text
    predictions: tuple[Prediction, ...]
    chart: Chart
    measure: Callable[[int, Bench], Measured] = field(repr=False)
    needs: tuple[Literal["minilm", "data"], ...] = ()
    seeds: int = 5
    first: int = 0
