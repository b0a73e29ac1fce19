"""How a line of each format becomes a source and a target. What is wrong with a line is a ValueError.

`read` collects these, so a file's problems are told together, each with its line.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from sublayer.errors import ConfigError

Parse = Callable[..., tuple[str, str]]  # the bytes of a line (of each file) to source and target


def from_columns(columns: tuple[int, int] | None) -> Parse:
    """Tab-separated: exactly two columns, or the named ones (counted from 1) of a line that may have more."""
    source, target = columns or (1, 2)
    if min(source, target) < 1:
        raise ConfigError(f"columns={columns}: columns are counted from 1. Write (1, 2) for the first two.")
    needed = max(source, target)

    def parse(raw: bytes) -> tuple[str, str]:
        text = text_of(raw)
        cells = text.split("\t")
        if len(cells) == needed or (columns and len(cells) > needed):
            return cells[source - 1], cells[target - 1]
        if not text.strip():
            return "", ""
        if columns:
            raise ValueError(f"{_counted(cells)}, expected at least {needed} (tab-separated)")
        cure = " Name two of them (columns) to read a file of more." if len(cells) > needed else ""
        raise ValueError(f"{_counted(cells)}, expected {needed} (tab-separated).{cure}")

    return parse


def from_json(fields: tuple[str, str]) -> Parse:
    """A JSON object a line, with the two named fields among its own."""

    def parse(raw: bytes) -> tuple[str, str]:
        text = text_of(raw)
        if not text.strip():
            return "", ""
        try:
            record = json.loads(text)
        except ValueError as problem:
            raise ValueError(f"not JSON: {problem}") from None
        if not isinstance(record, dict):
            raise ValueError(f"a JSON {type(record).__name__}, expected an object with {_quoted(fields)}")
        problems = [found for field in fields if (found := _field_problem(record, field))]
        if problems:
            raise ValueError("; ".join(problems))
        return record[fields[0]], record[fields[1]]

    return parse


def _field_problem(record: dict[str, object], field: str) -> str | None:
    if field not in record:
        return f"no field {field!r}, only {_quoted(record) or 'none'}"
    value = record[field]
    if not isinstance(value, str):
        return f"field {field!r} holds {json.dumps(value)}, expected a string"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"field {field!r} holds half of a surrogate pair (\\ud800 to \\udfff), which is no character"
    return None


def from_parallel(*names: str | Path) -> Parse:
    """A line of each of two files, which are named where a line is bad."""

    def parse(*raws: bytes) -> tuple[str, str]:
        texts, problems = [], []
        for name, raw in zip(names, raws, strict=True):
            try:
                texts.append(text_of(raw))
            except ValueError as problem:
                problems.append(f"{problem} in {name}")
        if problems:
            raise ValueError("; ".join(problems))
        return texts[0], texts[1]

    return parse


def text_of(raw: bytes) -> str:
    """UTF-8, or a ValueError that names the first byte which is not."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (0x{raw[error.start]:02x} is byte {error.start + 1} of the line)") from None


def _counted(cells: list[str]) -> str:
    return f"{len(cells)} column{'s' if len(cells) > 1 else ''}"


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(repr(word) for word in words)
