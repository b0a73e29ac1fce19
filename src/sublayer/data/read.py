"""Files to pairs and lines. UTF-8 whatever the locale; only LF and CRLF end a line.

Files are read as bytes and split at LF, because Python's text mode also splits at a bare CR, and
`str.splitlines` at eight more characters (U+2028, U+0085, vertical tab, ...) that are text here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from sublayer.data.examples import Corpus, Pair, Pairs
from sublayer.data.formats import text_of
from sublayer.data.lines import open_lines, split_lines
from sublayer.data.reading import Keep, Left, PairsAgain, Reading
from sublayer.errors import DataError, listing


def read_lines(file: Path | BinaryIO) -> Iterator[str]:
    """The lines of a file (`.gz` too) or of a binary stream such as `sys.stdin.buffer`, one by one.

    Blank lines are lines, so that N lines in can become N lines out. Raises DataError, naming file and line,
    where a line is not UTF-8.
    """
    raw_lines = open_lines(file) if isinstance(file, Path) else split_lines(file)
    name = file if isinstance(file, Path) else getattr(file, "name", "<stream>")
    for number, raw in enumerate(raw_lines, 1):
        try:
            yield text_of(raw)
        except ValueError as problem:
            raise DataError(f"{name}, line {number}: {problem}") from None


def read_pairs(
    path: str | Path | tuple[str | Path, str | Path],
    *,
    columns: tuple[int, int] | None = None,
    fields: tuple[str, str] = ("source", "target"),
    skip_bad: bool = False,
    keep: Keep | None = None,
    prefix: str = "",
    store: Path | None = None,
) -> Pairs:
    """The pairs of a tab-separated file, of a `.jsonl` file, or of two parallel files (a tuple of two paths).

    The name tells the format; each may end in `.gz`, and an unknown ending is read as tab-separated.

    columns   of a tab-separated file, the source's and the target's column, counted from 1. None stands for a
              file of exactly two. When columns are named, a line may have more.
    fields    of a `.jsonl` file, the names of the source's and the target's field
    skip_bad  leave out lines that cannot be read, and list them in `skipped`
    keep      makes what says of each pair, in order, why it is left out; None where it is not
    prefix    what stands before each source
    store     a folder for what is made of the pairs. With one they are not held in memory: the file is read again each
              time they are gone through.

    A pair with an empty side is left out as a whole and listed in `skipped`, never an error. Otherwise the
    text stays as it is. Raises DataError with every unreadable line of the file; where parallel files have
    different numbers of lines; where no pair is left.
    """
    read = Reading(path, columns, fields, keep, prefix)
    bad: list[tuple[int, str]] = []
    skipped: list[tuple[int, str]] = []
    items: list[Pair] = []
    pairs = lines = 0
    for found in read:
        lines += 1
        if isinstance(found, Left):
            (bad if found.bad and not skip_bad else skipped).append((found.line, found.reason))
            continue
        pairs += 1
        if store is None:
            items.append(found)
    corpus = Pairs(read.name, PairsAgain(read, pairs, store) if store else items, skipped)
    check(corpus, bad, lines)
    return corpus


def check(found: Corpus[Any], bad: list[tuple[int, str]], lines: int) -> None:
    """DataError where lines of a file are bad, or none of them is left."""
    if bad:
        unread = f"{len(bad)} of {lines} lines cannot be read"
        title = f"{found.name}: {unread}. Mend them, or leave them out (skip_bad)."
        raise DataError(listing(title, _described(bad)))
    if not found.items:
        needed = " Needed: one with a source and a target." if found.noun == "pairs" else ""
        title = f"{found.name}: no {found.noun.removesuffix('s')} is left of {lines} lines.{needed}"
        raise DataError(listing(title, _described(found.skipped)))


def _described(lines: list[tuple[int, str]]) -> list[str]:
    return [f"line {number}: {reason}" for number, reason in lines]
