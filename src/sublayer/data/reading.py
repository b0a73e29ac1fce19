"""A file of pairs, gone through pair by pair, as often as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, overload

from sublayer.data.examples import Pair
from sublayer.data.formats import Parse, from_columns, from_json, from_parallel
from sublayer.data.lines import open_lines
from sublayer.errors import DataError

Judge = Callable[[str, str], str | None]
Keep = Callable[[], Judge]  # a new judge for each time through: it may remember what it has seen


class Left(NamedTuple):
    """A line that is left out. `bad` says that it cannot be read at all."""

    line: int
    reason: str
    bad: bool


class Reading:
    """The lines of a file, or of two parallel ones, each a pair or why it is none; see `read_pairs`."""

    def __init__(
        self,
        path: str | Path | tuple[str | Path, str | Path],
        columns: tuple[int, int] | None,
        fields: tuple[str, str],
        keep: Keep | None,
        prefix: str,
    ) -> None:
        self.keep, self.prefix = keep, prefix
        self.paths = [Path(part) for part in (path if isinstance(path, tuple) else (path,))]
        self.name = " + ".join(map(str, self.paths))
        self.parse: Parse
        if isinstance(path, tuple):
            self.parse = from_parallel(*path)
        elif self.paths[0].name.lower().removesuffix(".gz").endswith(".jsonl"):
            self.parse = from_json(fields)
        else:
            self.parse = from_columns(columns)

    def __iter__(self) -> Iterator[Pair | Left]:
        judge = self.keep() if self.keep else None
        for number, row in enumerate(_rows(self.paths), 1):
            try:
                source, target = self.parse(*row)
            except ValueError as problem:
                yield Left(number, str(problem), True)
                continue
            if not (source.strip() and target.strip()):
                yield Left(number, _which_is_empty(source, target), False)
            elif judge is not None and (reason := judge(source, target)):
                yield Left(number, reason, False)
            else:
                yield Pair(self.prefix + source, target, number)


class PairsAgain(Sequence[Pair]):
    """The pairs of a file, read again each time they are gone through: none is held.

    store  a folder for what is made of them and is not to be held either
    """

    def __init__(self, read: Reading, pairs: int, store: Path) -> None:
        self.read, self.pairs, self.store = read, pairs, store

    def __len__(self) -> int:
        return self.pairs

    def __iter__(self) -> Iterator[Pair]:
        return (found for found in self.read if isinstance(found, Pair))

    @overload
    def __getitem__(self, row: int) -> Pair: ...
    @overload
    def __getitem__(self, row: slice) -> list[Pair]: ...
    def __getitem__(self, row: int | slice) -> Pair | list[Pair]:
        if isinstance(row, slice):
            return list(islice(self, *row.indices(self.pairs)))
        return next(islice(self, range(self.pairs)[row], None))


def _rows(paths: Sequence[Path]) -> Iterable[tuple[bytes, ...]]:
    if len(paths) == 1:
        return ((raw,) for raw in open_lines(paths[0]))
    first, second = (sum(1 for _ in open_lines(path)) for path in paths)
    if first != second:
        raise DataError(
            f"{paths[0]} has {first} lines and {paths[1]} has {second}. "
            "Line n of the one belongs to line n of the other, so both need the same number; "
            "keep a blank line where a side is missing."
        )
    return zip(*map(open_lines, paths), strict=True)


def _which_is_empty(source: str, target: str) -> str:
    sides = [side for side, text in (("source", source), ("target", target)) if not text.strip()]
    return "empty " + " and ".join(sides)
