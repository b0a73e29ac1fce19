"""Texts longer than a model reads, through windows that overlap or cut where that is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sublayer.data.slide import views
from sublayer.data.text import Line
from sublayer.data.texts import Token

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the model reads it.

    windows   ids with specials, one or several that overlap
    weights   how many tokens each window answers for
    tokens    of the whole text, without specials
    left_out  how many of them no window holds: the end of a text that was cut
    """

    windows: list[list[Token]]
    weights: list[int]
    tokens: int
    left_out: int

    @classmethod
    def of(cls, ids: list[Token] | None, around: tuple[list[Token], list[Token]], limit: float, cut: bool) -> Reading:
        """Windows of `limit` tokens at most, specials counted; of nothing there is none.

        around  what stands before each window and behind it
        cut     whether there is the first window alone
        """
        if ids is None:
            return cls([], [], 0, 0)
        before, behind = around
        parts = views([1] * len(ids), limit - len(before) - len(behind))[: 1 if cut else None]
        return cls(
            windows=[[*before, *ids[part.start : part.end], *behind] for part in parts],
            weights=[max(part.last - part.first, 1) for part in parts],
            tokens=len(ids),
            left_out=len(ids) - parts[-1].end,
        )

    @property
    def is_long(self) -> bool:
        return len(self.windows) > 1 or self.left_out > 0

    def __str__(self) -> str:
        """What became of it, to be told."""
        done = f"the last {self.left_out} left out" if self.left_out else f"read in {len(self.windows)} windows"
        return f"{self.tokens} tokens, {done}"


class _InPieces(Protocol):
    @property
    def limit(self) -> float: ...

    @property
    def tokenizer(self) -> Any: ...

    def encode_lines(self, lines: Sequence[Line]) -> list[list[int]]: ...


def in_pieces(task: _InPieces, items: Sequence[Line]) -> list[str]:
    """Of each line that is learned in several pieces, or not to its end: its tokens, and what is done."""
    found = []
    for line in items if task.limit < math.inf else ():
        pieces, tokens = task.encode_lines([line]), len(task.tokenizer.encode(line.text))
        left_out = tokens - sum(map(len, pieces))
        if len(pieces) > 1 or 0 < left_out < tokens:
            rest = f", the last {left_out} left out" if left_out else ""
            found.append(f"line {line.line}: {tokens} tokens, read in {len(pieces)} pieces{rest}")
    return found


def told_long(name: str, texts: Sequence[str]) -> list[str]:
    """Lines about the texts of a file that are longer than is read at once: how many there are, and the first ten."""
    if not texts:
        return []
    more = [f"  and {len(texts) - SHOWN:,} more"] if len(texts) > SHOWN else []
    return [f"{name}: {len(texts):,} longer than is read at once", *(f"  {text}" for text in texts[:SHOWN]), *more]
