"""Questions over texts, with the places of their answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sublayer.data.examples import Corpus
from sublayer.data.formats import text_of
from sublayer.data.lines import open_lines
from sublayer.data.read import check
from sublayer.errors import ConfigError

COLUMNS = (1, 2, 3, 4)


class Stretch(NamedTuple):
    """Characters `start` up to, not including, `end` of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the text it is asked of, and every right answer; none where the text does not tell."""

    question: str
    context: str
    answers: tuple[Stretch, ...]
    line: int

    @property
    def texts(self) -> list[str]:
        """The answers as they read."""
        return [self.context[start:end] for start, end in self.answers]


def read_questions(
    path: str | Path, *, columns: Sequence[int] | None = None, skip_bad: bool = False
) -> Corpus[Question]:
    """The questions of a `.jsonl` file, or of a tab-separated one; each may end in `.gz`.

    JSON: an object a line with `question`, `context` and `answers`, as in SQuAD: {"text": [...], "answer_start": [...]}
    with both lists empty where there is no answer.
    Tab-separated: question, context, answer, and at which character of the context it begins, from 0; an empty answer
    and -1 where there is none. `columns` names these four in a wider file, from 1.

    Without a question or a context a line is left out and listed in `skipped`. Raises DataError with every unreadable
    line, such as one whose answer does not stand where it should.
    """
    if columns is not None and (len(columns) != 4 or min(columns) < 1):
        raise ConfigError(f"columns={list(columns)}: name 4 columns, counted from 1: question, context, answer, start.")
    items: list[Question] = []
    found: Corpus[Question] = Corpus(str(path), items, noun="questions")
    bad: list[tuple[int, str]] = []
    as_json = Path(path).name.lower().removesuffix(".gz").endswith(".jsonl")
    number = 0
    for number, raw in enumerate(open_lines(Path(path)), 1):
        try:
            text = text_of(raw)
            if not text.strip():
                found.skipped.append((number, "empty line"))
                continue
            question, context, answers = _from_json(text) if as_json else _from_columns(text, columns)
            if empty := [n for n, cell in (("question", question), ("context", context)) if not cell.strip()]:
                found.skipped.append((number, f"empty {' and '.join(empty)}"))
            else:
                places = tuple(_place(context, *answer) for answer in answers)
                items.append(Question(question, context, places, number))
        except ValueError as problem:
            (found.skipped if skip_bad else bad).append((number, str(problem)))
    check(found, bad, lines=number)
    return found


def _place(context: str, answer: str, start: int) -> Stretch:
    stands = context[max(start, 0) : max(start, 0) + len(answer)]
    if start < 0 or stands != answer:
        at = context.find(answer)
        hint = f"it stands at {at}" if at >= 0 else "the context does not hold it"
        raise ValueError(f"the answer {answer!r} does not stand at character {start} of the context: {hint}")
    return Stretch(start, start + len(answer))


def _from_columns(text: str, columns: Sequence[int] | None) -> tuple[str, str, list[tuple[str, int]]]:
    cells = text.split("\t")
    if columns is None and len(cells) != 4 or columns is not None and len(cells) < max(columns):
        needed = "4: question, context, answer, start" if columns is None else f"at least {max(columns)}"
        raise ValueError(f"{len(cells)} columns, expected {needed} (tab-separated)")
    question, context, answer, start = (cells[column - 1] for column in columns or COLUMNS)
    try:
        place = int(start)
    except ValueError:
        raise ValueError(f"start is {start!r}, expected a number, or -1 for no answer") from None
    if (place < 0) != (not answer.strip()):
        raise ValueError(f"answer {answer!r} with start {place}: no answer is an empty one with start -1")
    return question, context, [] if place < 0 else [(answer, place)]


def _from_json(text: str) -> tuple[str, str, list[tuple[str, int]]]:
    try:
        record: Any = json.loads(text)
        question, context, answers = record["question"], record["context"], record["answers"]
        pairs = list(zip(answers["text"], answers["answer_start"], strict=True))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            'expected {"question": …, "context": …, "answers": {"text": […], "answer_start": […]}}, '
            f"and reading it failed with {error!r}"
        ) from None
    texts = (question, context, *(answer for answer, _ in pairs))
    if not all(isinstance(t, str) for t in texts) or not all(type(start) is int for _, start in pairs):
        raise ValueError("question, context and answers are strings, and answer_start are whole numbers")
    return question, context, list(dict.fromkeys((a, s) for a, s in pairs if a.strip()))
