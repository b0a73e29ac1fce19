"""A part of a file's lines, and answers that a process which was stopped need not find again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sublayer.errors import ConfigError, DataError, listing
from sublayer.models.files import put, read_json, settle, write_json

AT_ONCE = 4096  # lines between two notes of how far it is
Line = TypeVar("Line")


@dataclass(frozen=True)
class Shard:
    """Number `number` of `of` parts of a file's lines, each part lines that stand together: the answers of all parts
    one after the other are those of the file."""

    number: int = 1
    of: int = 1

    @classmethod
    def read(cls, text: str) -> Shard:
        """From i/n, with i from 1 to n."""
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        shard = cls(*map(int, found.groups())) if found else cls(0)
        if not 1 <= shard.number <= shard.of:
            raise ConfigError(f"--shard {text!r}: write i/n with i from 1 to n, for example 1/4 … 4/4.")
        return shard

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def cut(self, lines: Callable[[], Iterable[Line]]) -> tuple[int, Iterator[Line]]:
        """The number of its first line, counted from 1, and its lines, of a file whose lines `lines()` reads. A file
        that is cut is read once more, to count its lines."""
        if self.of == 1:
            return 1, iter(lines())
        count = sum(1 for _ in lines())
        begin, end = (count * number // self.of for number in (self.number - 1, self.number))
        return begin + 1, islice(lines(), begin, end)


class Output:
    """A file of answers that is there when it is whole. Until then FILE.part holds what there is, and FILE.part.json
    for how many lines that is the answer: the same command goes on from there.

    about  what the answers depend on. ConfigError where FILE.part is of something else.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path, self.about = path, about
        self.part, self.note = (path.with_name(f"{path.name}.{end}") for end in ("part", "part.json"))
        self.done = self.bytes = 0
        if path.exists():
            raise ConfigError(f"{path} is there already, and whole: remove it, or choose another --out.")
        if self.note.exists():
            held = read_json(self.note)
            if held.get("about") != about:
                raise ConfigError(
                    f"{self.part} is the beginning of other answers: remove it, or choose another --out. "
                    f"It holds those of {held.get('about')}, and asked for are {about}."
                )
            self.done, self.bytes = held["lines"], held["bytes"]

    def write(self, lines: Iterable[Line], answers: Callable[[list[Line], int], Iterable[str]], first: int = 1) -> None:
        """`answers(lines, number of the first)` for some thousand lines at a time. DataError at the end where a line
        could not be read; its answer is empty."""
        problems, rest = [], islice(lines, self.done, None)
        with self.part.open("ab") as file:
            file.truncate(self.bytes)  # what was written after the last note is found again
            while some := list(islice(rest, AT_ONCE)):
                try:
                    for text in answers(some, first + self.done):
                        file.write(f"{text}\n".encode())
                except DataError as error:
                    problems.append(str(error))
                file.flush()
                os.fsync(file.fileno())
                self.done, self.bytes = self.done + len(some), file.tell()
                write_json(self.note, {"about": self.about, "lines": self.done, "bytes": self.bytes})
        put(self.part, self.path)
        self.note.unlink(missing_ok=True)
        settle(self.path.parent)
        if problems:
            raise DataError(listing("Some lines have no answer:", problems))
