"""Files to pairs and lines. UTF-8 whatever the locale; only LF and CRLF end a line.

Files are read as bytes and split at LF, because Python's text mode also splits at a bare CR, and
`str.splitlines` at eight more characters (U+2028, U+0085, vertical tab, ...) that are text here.
"""

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from sublayer.data.examples import Corpus, Pair, Pairs
from sublayer.data.formats import Parse, from_columns, from_json, from_parallel, text_of
from sublayer.errors import DataError, listing


def read_lines(file: Path | BinaryIO) -> Iterator[str]:
    """The lines of a file (`.gz` too) or of a binary stream such as `sys.stdin.buffer`, one by one.

    Blank lines are lines, so that N lines in can become N lines out. Raises DataError, naming file and line,
    where a line is not UTF-8.
    """
    raw_lines = open_lines(file) if isinstance(file, Path) else _split(file)
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
) -> Pairs:
    """The pairs of a tab-separated file, of a `.jsonl` file, or of two parallel files (a tuple of two paths).

    The name tells the format; each may end in `.gz`, and an unknown ending is read as tab-separated.

    columns   of a tab-separated file, the source's and the target's column, counted from 1. None stands for a
              file of exactly two. When columns are named, a line may have more.
    fields    of a `.jsonl` file, the names of the source's and the target's field
    skip_bad  leave out lines that cannot be read, and list them in `skipped`

    A pair with an empty side is left out as a whole and listed in `skipped`, never an error. Otherwise the
    text stays as it is. Raises DataError with every unreadable line of the file; where parallel files have
    different numbers of lines; where no pair is left.
    """
    name, rows, parse = _source(path, columns, fields)
    found = Pairs(name, items=[])
    bad: list[tuple[int, str]] = []
    number = 0
    for number, row in enumerate(rows, 1):
        try:
            source, target = parse(*row)
        except ValueError as problem:
            (found.skipped if skip_bad else bad).append((number, str(problem)))
            continue
        if source.strip() and target.strip():
            found.items.append(Pair(source, target, number))
        else:
            found.skipped.append((number, _which_is_empty(source, target)))
    check(found, bad, lines=number)
    return found


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


def _source(
    path: str | Path | tuple[str | Path, str | Path], columns: tuple[int, int] | None, fields: tuple[str, str]
) -> tuple[str, Iterable[tuple[bytes, ...]], Parse]:
    """The name of what is read, its rows (one line, or a line of each file), and how a row is read."""
    if isinstance(path, tuple):
        return f"{path[0]} + {path[1]}", _parallel(Path(path[0]), Path(path[1])), from_parallel(*path)
    path = Path(path)
    format_name = path.name.lower().removesuffix(".gz")
    parse = from_json(fields) if format_name.endswith(".jsonl") else from_columns(columns)
    return str(path), ((raw,) for raw in open_lines(path)), parse


def _parallel(first: Path, second: Path) -> list[tuple[bytes, ...]]:
    sources, targets = list(open_lines(first)), list(open_lines(second))
    if len(sources) != len(targets):
        raise DataError(
            f"{first} has {len(sources)} lines and {second} has {len(targets)}. "
            "Line n of the one belongs to line n of the other, so both need the same number; "
            "keep a blank line where a side is missing."
        )
    return list(zip(sources, targets, strict=True))


def open_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file (`.gz` too) as bytes, without their ends. DataError where it cannot be read."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield from _split(file)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _split(file: Iterable[bytes]) -> Iterator[bytes]:
    """Lines without their ends and without the file's byte-order mark. A binary file iterates by LF."""
    for number, raw in enumerate(file):
        line = raw.removesuffix(b"\r\n").removesuffix(b"\n")
        yield line if number else line.removeprefix(codecs.BOM_UTF8)


def _which_is_empty(source: str, target: str) -> str:
    sides = [side for side, text in (("source", source), ("target", target)) if not text.strip()]
    return "empty " + " and ".join(sides)


def _described(lines: list[tuple[int, str]]) -> list[str]:
    return [f"line {number}: {reason}" for number, reason in lines]
