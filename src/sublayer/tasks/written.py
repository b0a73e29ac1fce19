"""Answers as lines: plain, with scores, n-best, JSON."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Protocol

from sublayer.errors import DataError, listing
from sublayer.tasks.base import Prediction, Written
from sublayer.text import NGrams, Tokenizer


class _Predicts(Protocol):
    def predict(
        self, inputs: Iterable[str], *, window: int, too_long: Callable[[str], None]
    ) -> Iterator[list[Prediction]]: ...


def translations(task: _Predicts, lines: Iterable[str], how: Written, window: int) -> Iterator[str]:
    """The lines that tell the answers to these. DataError, after the last of them, names the lines that are longer
    than the model can read: their answers are empty."""
    long: list[str] = []
    for number, found in enumerate(task.predict(lines, window=window, too_long=long.append), 1):
        if how.as_json:
            yield json.dumps({"line": number, "answers": [asdict(a) for a in found]}, ensure_ascii=False)
        elif how.nbest > 1:
            yield from (f"{number}\t{answer.score:.6f}\t{answer.text}" for answer in found)
        elif how.scores:
            yield f"{found[0].score:.6f}\t{found[0].text}"
        else:
            yield found[0].text
    refuse_long(long)


def refuse_long(long: list[str]) -> None:
    if long:
        raise DataError(listing("These lines are longer than the model can read, and were left empty:", long))


def told(name: str, tokenizer: Tokenizer | NGrams) -> str:
    """One line for `sublayer show`."""
    return f"{name}: {tokenizer.kind}, {tokenizer.vocab_size:,} tokens, normalization {tokenizer.normalization}"
