"""One token a row and a step, handed over as it is written: the loop of greedy search and of sampling."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from sublayer.generate.decoding import Decoding, Hypothesis, hypothesis, limits, without
from sublayer.generate.length import Length


class Token(NamedTuple):
    """The next token of a row, and its log-probability."""

    row: int
    token: int
    logp: float


class Choice(Protocol):
    def __call__(self, logps: Tensor, rows: Sequence[int], step: int) -> tuple[Tensor, Tensor]:
        """The log-probability and the id of the token that each row goes on with, (N,) and (N,).

        logps  (N, V) log-probabilities of the next token
        rows   which row of the batch each of the N is
        step   how many tokens each has generated so far
        """


def likeliest(logps: Tensor, rows: Sequence[int], step: int) -> tuple[Tensor, Tensor]:
    """Of equally likely tokens the lowest id."""
    return logps.max(-1)


def stream(
    decoding: Decoding,
    start: Tensor,
    *,
    eos: int,
    max_len: Tensor | int,
    choose: Choice = likeliest,
    never: Sequence[int] = (),
) -> Iterator[Token]:
    """Continue each prefix token by token until EOS or the length limit, and yield every token at once.

    start    (B, n) prefixes, BOS included; all of one length
    max_len  tokens to generate at most, EOS counted: one number, or one a row (B,)
    choose   ``likeliest``, or a ``Draw``
    never    tokens that are not to come, such as padding and BOS

    The tokens come step by step, and in the order of the rows within a step. EOS is yielded too. A row for
    which nothing may come any more (all is -inf) is cut there. Rows that have ended leave the batch.
    Raises ConfigError or ShapeError, when it is called, for a ``max_len`` that cannot be.
    """
    longest = limits(max_len, len(start))
    return follow(without(decoding, never, start.device), start, eos, longest, choose)


def follow(decoding: Decoding, start: Tensor, eos: int, longest: Sequence[int], choose: Choice) -> Iterator[Token]:
    live = list(range(len(start)))
    new, n = start, 0
    while live:
        logp, token = choose(decoding.step(new), live, n)
        n += 1
        going = []
        for i, written in enumerate(map(Token, live, token.tolist(), logp.tolist())):
            if written.logp > -torch.inf:
                yield written
                if written.token != eos and n < longest[written.row]:
                    going.append(i)
        if going and len(going) < len(live):
            rows = torch.tensor(going, device=start.device)
            decoding.select(rows)
            token = token[rows]
        live = [live[i] for i in going]
        new = token[:, None]


def collect(stream: Iterable[Token], rows: int, eos: int, length: Length) -> list[Hypothesis]:
    """What a stream wrote in each row."""
    tokens: list[list[int]] = [[] for _ in range(rows)]
    logps: list[list[float]] = [[] for _ in range(rows)]
    for row, token, logp in stream:
        tokens[row].append(token)
        logps[row].append(logp)
    return [hypothesis(*written, eos, length) for written in zip(tokens, logps, strict=True)]
