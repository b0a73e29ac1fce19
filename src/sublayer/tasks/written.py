"""Answers as lines: plain, with scores, n-best, JSON."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, Protocol

from sublayer.errors import DataError, listing
from sublayer.tasks.base import Alternative, Prediction, Written
from sublayer.tasks.search import Search
from sublayer.text import NGrams, PretrainedTokenizer, Tokenizer


class _Shows(Protocol):
    search: Search

    def stream(self, text: str) -> Iterator[str]: ...

    def alternatives(self, text: str, prefix: str, n: int) -> list[Alternative]: ...


def translations(
    predict: Callable[..., Iterable[list[Prediction]]], how: Written, *, alignments: bool = False
) -> Iterator[str]:
    """The lines that tell what `predict` finds. DataError, after the last of them, names the lines that are longer than
    the model can read: their answers are empty."""
    long: list[str] = []
    for number, found in enumerate(predict(too_long=long.append), 1):
        if how.as_json:
            yield json.dumps({"line": number, "answers": [_record(a) for a in found]}, ensure_ascii=False)
            continue
        for answer in found if how.nbest > 1 else found[:1]:
            before = [str(number)] if how.nbest > 1 else []
            before += [f"{answer.score:.6f}"] if how.nbest > 1 or how.scores else []
            after = ["" if answer.alignment is None else answer.alignment.pharaoh()] if alignments else []
            yield "\t".join([*before, answer.text, *after])
    _refuse(long)


def streamed(task: _Shows, lines: Iterable[str]) -> Iterator[str]:
    """The answer to each line in pieces, and a line end behind it. DataError as of `translations`."""
    long: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            yield from task.stream(line)
        except DataError as problem:
            long.append(f"line {number}: {problem}")
        yield "\n"
    _refuse(long)


def alternatives(task: _Shows, lines: Iterable[str], n: int, as_json: bool) -> Iterator[str]:
    """Lines that tell the n tokens that may follow `search.prefix`. DataError as of `translations`."""
    long: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            found = task.alternatives(line, task.search.prefix, n)
        except DataError as problem:
            long.append(f"line {number}: {problem}")
            continue
        if as_json:
            each = [asdict(a) | {"answer": _record(a.answer)} for a in found]
            yield json.dumps({"line": number, "alternatives": each}, ensure_ascii=False)
        else:
            yield from (f"{number}\t{a.probability:.6f}\t{a.token}\t{a.answer.text}" for a in found)
    _refuse(long)


def _record(answer: Prediction) -> dict[str, Any]:
    """All of an answer; its alignment where it was asked for."""
    return {name: value for name, value in asdict(answer).items() if name != "alignment" or value is not None}


def _refuse(long: list[str]) -> None:
    if long:
        raise DataError(listing("These lines are longer than the model can read, and were left empty:", long))


def told(name: str, tokenizer: Tokenizer | NGrams | PretrainedTokenizer) -> str:
    """One line for `sublayer show`."""
    return f"{name}: {tokenizer.kind}, {tokenizer.vocab_size:,} tokens, normalization {tokenizer.normalization}"
