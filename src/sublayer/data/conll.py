"""Sentences of words with a tag each: `word<TAB>tag` lines, a blank line between sentences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sublayer.data.examples import Corpus
from sublayer.data.formats import text_of
from sublayer.data.lines import open_lines
from sublayer.data.read import check
from sublayer.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words and their tags. `line` is that of the first word, counted from 1."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    line: int


def read_conll(path: str | Path, *, columns: tuple[int, int] | None = None, skip_bad: bool = False) -> Corpus[Sentence]:
    """The sentences of a file (also .gz).

    columns   of word and tag, counted from 1, in a file that may have more of them
    skip_bad  leave out sentences with a line that cannot be read, and list that line in `skipped`

    A line that begins with `#` and has no tab is a comment. Raises DataError with every unreadable line; where no
    sentence is left.
    """
    if columns is not None and min(columns) < 1:
        raise ConfigError(f"columns={list(columns)}: columns are counted from 1. Write [1, 2] for the first two.")
    items: list[Sentence] = []
    found: Corpus[Sentence] = Corpus(str(path), items, noun="sentences")
    bad: list[tuple[int, str]] = []
    words: list[tuple[str, str]] = []
    begun, spoilt, number = 1, False, 0

    def close() -> None:
        if words and not spoilt:
            items.append(Sentence(tuple(w for w, _ in words), tuple(t for _, t in words), begun))

    for number, raw in enumerate(open_lines(Path(path)), 1):
        try:
            text = text_of(raw)
            if not text.strip():
                close()
                words, spoilt = [], False
            elif not text.startswith("#") or "\t" in text:
                begun = begun if words or spoilt else number
                words.append(_cells(text, columns))
        except ValueError as problem:
            (found.skipped if skip_bad else bad).append((number, str(problem)))
            spoilt = True
    close()
    check(found, bad, lines=number)
    return found


def _cells(text: str, columns: tuple[int, int] | None) -> tuple[str, str]:
    cells = text.split("\t")
    word, tag = columns or (1, 2)
    if len(cells) < max(word, tag) or (columns is None and len(cells) > 2):
        counted = f"{len(cells)} column{'s' if len(cells) > 1 else ''}"
        cure = "" if columns or len(cells) < 2 else " Name two of them (columns) to read a file of more."
        raise ValueError(f"{counted}, expected {max(word, tag)} (tab-separated).{cure}")
    if not cells[word - 1].strip() or not cells[tag - 1].strip():
        raise ValueError("empty word or tag")
    return cells[word - 1], cells[tag - 1]
