"""Lines of several columns: texts with their labels, scores or spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sublayer.data.examples import Corpus
from sublayer.data.formats import text_of
from sublayer.data.lines import open_lines
from sublayer.data.read import check
from sublayer.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one line, which is counted from 1."""

    cells: tuple[str, ...]
    line: int


def read_rows(
    path: str | Path,
    widths: Sequence[int],
    *,
    columns: Sequence[int] | None = None,
    blank: int = 0,
    noun: str = "texts",
    skip_bad: bool = False,
) -> Corpus[Row]:
    """The rows of a tab-separated file (also .gz).

    widths   how many cells a row may have; the first line decides which of them, and all others must have as many
    columns  these columns of a file that may have more, counted from 1
    blank    how many of the last cells may be empty. A row with another empty cell is left out and listed in `skipped`
    noun     what the rows are called

    Raises DataError with every unreadable line of the file; where no row is left.
    """
    if columns is not None and (len(columns) not in widths or min(columns) < 1):
        raise ConfigError(f"columns={list(columns)}: name {_either(widths)} columns, counted from 1.")
    items: list[Row] = []
    found: Corpus[Row] = Corpus(str(path), items, noun=noun)
    bad: list[tuple[int, str]] = []
    number, width = 0, None
    for number, raw in enumerate(open_lines(Path(path)), 1):
        try:
            cells = tuple(text_of(raw).split("\t"))
            if any(cell.strip() for cell in cells):
                cells = _chosen(cells, widths if width is None else (width,), columns)
                width = len(cells)
        except ValueError as problem:
            (found.skipped if skip_bad else bad).append((number, str(problem)))
            continue
        empty = [str(i) for i, cell in enumerate(cells[: len(cells) - blank], 1) if not cell.strip()]
        if empty or len(cells) == 1 < min(widths):
            found.skipped.append((number, f"empty column {' and '.join(empty or ['1'])}"))
        else:
            items.append(Row(cells, number))
    check(found, bad, lines=number)
    return found


def _chosen(cells: tuple[str, ...], widths: Sequence[int], columns: Sequence[int] | None) -> tuple[str, ...]:
    if columns is not None:
        if len(cells) < max(columns):
            raise ValueError(f"{_counted(len(cells))}, expected at least {max(columns)} (tab-separated)")
        return tuple(cells[column - 1] for column in columns)
    if len(cells) not in widths:
        raise ValueError(f"{_counted(len(cells))}, expected {_either(widths)} (tab-separated)")
    return cells


def _counted(columns: int) -> str:
    return f"{columns} column{'s' if columns > 1 else ''}"


def _either(widths: Sequence[int]) -> str:
    return " or ".join(map(str, widths))
