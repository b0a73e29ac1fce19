"""Greedy search: the likeliest token at every step."""

from collections.abc import Sequence

import torch
from torch import Tensor

from sublayer.generate.decoding import Decoding, Hypothesis, hypothesis, limits, without
from sublayer.generate.length import DEFAULT, Length


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

    Returns one hypothesis a row. Of equally likely tokens the lowest id is taken. Rows that have ended
    leave the batch. Raises ConfigError or ShapeError for a ``max_len`` that cannot be.
    """
    longest = limits(max_len, len(start))
    decoding = without(decoding, never, start.device)
    tokens: list[list[int]] = [[] for _ in longest]
    logps: list[list[float]] = [[] for _ in longest]
    live = list(range(len(start)))
    new = start
    while live:
        logp, token = decoding.step(new).max(-1)
        going = []
        for i, (row, a, b) in enumerate(zip(live, token.tolist(), logp.tolist(), strict=True)):
            tokens[row].append(a)
            logps[row].append(b)
            if a != eos and len(tokens[row]) < longest[row]:
                going.append(i)
        if going and len(going) < len(live):
            rows = torch.tensor(going, device=start.device)
            decoding.select(rows)
            token = token[rows]
        live = [live[i] for i in going]
        new = token[:, None]
    return [hypothesis(*written, eos, length) for written in zip(tokens, logps, strict=True)]
