"""Sequences longer than a model reads, through windows that overlap."""

from collections.abc import Sequence
from typing import NamedTuple

from sublayer.errors import DataError


class View(NamedTuple):
    """Items `start` to `end` are read together, and `first` to `last` of them are answered for."""

    start: int
    end: int
    first: int
    last: int


def views(sizes: Sequence[int], room: float) -> list[View]:
    """Windows over items of these sizes, each window of `room` at most, that answer for every item once.

    Neighbours overlap by about half, and divide in the middle of what they share: an item is answered for by the window
    that sees most on both sides of it. DataError for an item larger than the room.
    """
    if large := [i for i, size in enumerate(sizes) if size > room]:
        raise DataError(f"word {large[0] + 1} is {sizes[large[0]]} tokens and the model reads {room:.0f} at a time.")
    found: list[View] = []
    start = first = 0
    while True:
        end, held = start, 0
        while end < len(sizes) and held + sizes[end] <= room:
            held += sizes[end]
            end += 1
        if end == len(sizes):
            return [*found, View(start, end, first, end)]
        after, shared = end, 0
        while after > start + 1 and (shared + sizes[after - 1]) * 2 <= room:
            after -= 1
            shared += sizes[after]
        last = (after + end + 1) // 2
        found.append(View(start, end, first, last))
        start, first = after, last
