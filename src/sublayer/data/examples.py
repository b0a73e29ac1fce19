"""What is learned from: the examples of a file, above all pairs of a source and a target text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar


@dataclass(frozen=True, slots=True)
class Pair:
    """One example. `line` is its line in the file, counted from 1."""

    source: str
    target: str
    line: int


class Item(Protocol):
    """One example of any kind."""

    @property
    def line(self) -> int: ...


Kind = TypeVar("Kind", bound=Item)


@dataclass(slots=True)
class Corpus(Generic[Kind]):
    """The examples of one file, in its order, and what was left out of it.

    name     the file, or both files, as they were given
    skipped  (line, reason) of every example that was left out, in order of the lines
    noun     what its examples are called
    """

    name: str
    items: Sequence[Kind]
    skipped: list[tuple[int, str]] = field(default_factory=list)
    noun: str = "pairs"

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Kind]:
        return iter(self.items)

    def __getitem__(self, index: int) -> Kind:
        return self.items[index]

    def summary(self) -> str:
        """One line: `x.tsv: 400 pairs, 2 left out`."""
        return f"{self.name}: {len(self.items):,} {self.noun}, {len(self.skipped):,} left out"


Pairs = Corpus[Pair]


def group(pairs: Iterable[Pair]) -> list[tuple[str, list[str]]]:
    """Each source once, in order of its first line, with all its different targets in their order.

    A pronunciation dictionary lists a word on several lines: each of those targets is right.
    """
    targets: dict[str, dict[str, None]] = {}
    for pair in pairs:
        targets.setdefault(pair.source, {})[pair.target] = None
    return [(source, list(found)) for source, found in targets.items()]
