"""Plain text: what stands in files, line after line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from sublayer.data.examples import Corpus
from sublayer.data.read import read_lines
from sublayer.errors import DataError


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, and which of several files it stands in. A blank line is one."""

    text: str
    file: int
    line: int


def read_plain(paths: Sequence[str | Path]) -> Corpus[Line]:
    """The lines of some files (also .gz), file after file. DataError where there is nothing but blanks."""
    lines = [Line(text, f, n) for f, path in enumerate(paths) for n, text in enumerate(read_lines(Path(path)), 1)]
    name = " + ".join(map(str, paths))
    if not any(line.text.strip() for line in lines):
        raise DataError(f"{name}: there is no text in it.")
    return Corpus(name, lines, noun="lines")


def joined(lines: Iterable[Line]) -> list[str]:
    """The text of each file, its lines ended by LF."""
    return ["".join(f"{line.text}\n" for line in file) for _, file in groupby(lines, key=lambda line: line.file)]
