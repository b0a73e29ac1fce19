"""Greedy search: the likeliest token at every step."""

from collections.abc import Sequence

from torch import Tensor

from sublayer.generate.decoding import Decoding, Hypothesis
from sublayer.generate.length import DEFAULT, Length
from sublayer.generate.stream import collect, stream


def greedy(
    decoding: Decoding,
    start: Tensor,
    *,
    eos: int,
    max_len: Tensor | int,
    length: Length = DEFAULT,
    never: Sequence[int] = (),
) -> list[Hypothesis]:
    """Follow the likeliest token from each prefix until EOS or the length limit.

    start    (B, n) prefixes, BOS included; all of one length
    max_len  tokens to generate at most, EOS counted: one number, or one a row (B,)
    length   gives the hypotheses their ``score``; the tokens do not depend on it
    never    tokens that are not to come, such as padding and BOS

    Returns one hypothesis a row. Of equally likely tokens the lowest id is taken. A row for which nothing
    may come any more is cut there. Rows that have ended leave the batch. Raises ConfigError or ShapeError for
    a ``max_len`` that cannot be.
    """
    written = stream(decoding, start, eos=eos, max_len=max_len, never=never)
    return collect(written, len(start), eos, length)
