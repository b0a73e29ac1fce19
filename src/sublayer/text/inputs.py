"""What a published model reads for a text or two."""

from typing import NamedTuple

import tokenizers


class Inputs(NamedTuple):
    """What an encoder reads: ids with special tokens, and of each the segment, 0 or 1."""

    ids: list[int]
    types: list[int]


def shorten(first: tokenizers.Encoding, second: tokenizers.Encoding | None, room: int) -> None:
    """Cut the end of the longer one until both fit; of two equally long ones that of the second."""
    n, m = len(first), 0 if second is None else len(second)
    while n + m > max(room, 0):
        n, m = (n - 1, m) if n > m else (n, m - 1)
    first.truncate(n)
    if second is not None:
        second.truncate(m)
