"""Texts longer than a model reads, through windows that overlap or cut where that is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from sublayer.data.slide import views
from sublayer.data.texts import Token


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
