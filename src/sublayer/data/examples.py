"""What is learned from: pairs of a source and a target text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Pair:
    """One example. `line` is its line in the file, counted from 1."""

    source: str
    target: str
    line: int


@dataclass(slots=True)
class Pairs:
    """The pairs of one file, in its order, and what was left out of it.

    name     the file, or both files, as they were given
    skipped  (line, reason) of every pair that was left out, in order of the lines
    """

    name: str
    items: list[Pair]
    skipped: list[tuple[int, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.items)

    def __getitem__(self, index: int) -> Pair:
        return self.items[index]

    def summary(self) -> str:
        """One line: `x.tsv: 400 pairs, 2 left out`."""
        return f"{self.name}: {len(self.items):,} pairs, {len(self.skipped):,} left out"


def group(pairs: Iterable[Pair]) -> list[tuple[str, list[str]]]:
    """Each source once, in order of its first line, with all its different targets in their order.

    A pronunciation dictionary lists a word on several lines: each of those targets is right.
    """
    targets: dict[str, dict[str, None]] = {}
    for pair in pairs:
        targets.setdefault(pair.source, {})[pair.target] = None
    return [(source, list(found)) for source, found in targets.items()]
