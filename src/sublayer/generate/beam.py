"""Beam search: the most promising hypotheses of every sentence, side by side.

At every step the hypotheses of a sentence are continued by every token. One that ends counts where it is
among the ``beam`` best of these; the ``beam`` best of the others run on. A sentence at its length limit
takes the ``beam`` best as they are. A sentence's result depends on nothing else in the batch: ties have an
order (see ``continuations``), and sentences that are done leave.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from sublayer.errors import ConfigError, listing
from sublayer.generate.candidates import Propose, continuations
from sublayer.generate.decoding import Decoding, Hypothesis, limits, without
from sublayer.generate.frontier import Frontier
from sublayer.generate.length import DEFAULT, Length
from sublayer.generate.stop import StopRule, exact


def beam_search(
    decoding: Decoding,
    start: Tensor,
    *,
    eos: int,
    beam: int,
    max_len: Tensor | int,
    length: Length = DEFAULT,
    nbest: int = 1,
    never: Sequence[int] = (),
    stop: StopRule = exact,
    propose: Propose = continuations,
) -> list[list[Hypothesis]]:
    """The ``nbest`` best hypotheses that a beam finds for each prefix, best first.

    start    (B, n) prefixes, BOS included; all of one length
    beam     hypotheses a sentence that run side by side
    max_len  tokens to generate at most, EOS counted: one number, or one a sentence (B,)
    length   the score by which ended, running and cut hypotheses are all compared
    nbest    hypotheses wanted, at most ``beam``; fewer come back only where fewer exist
    never    tokens that are not to come, such as padding and BOS
    stop     ``exact``: once nothing that runs can still win. ``early``: once ``beam`` hypotheses have ended
    propose  the continuations of a step and their order: the likeliest first, or ``Banks`` for required phrases

    Raises ConfigError or ShapeError for numbers that cannot be.
    """
    check(beam, nbest)
    longest = torch.tensor(limits(max_len, len(start)), dtype=torch.float64)
    decoding = without(decoding, never, start.device)
    frontier = Frontier(longest, eos, beam, nbest, length, stop)
    tokens = start
    while len(frontier.live):
        running = frontier.advance(propose(decoding.step(tokens), frontier.totals, 2 * beam))
        if len(frontier.live):
            decoding.select(running.parent.flatten().to(start.device))
            tokens = running.token.view(-1, 1).to(start.device)
    return frontier.best()


def check(beam: int, nbest: int) -> None:
    problems = []
    if beam < 1:
        problems.append(f"beam={beam}: the beam must be at least 1 wide.")
    if nbest < 1:
        problems.append(f"nbest={nbest}: ask for at least 1 hypothesis.")
    if nbest > max(beam, 1):
        problems.append(
            f"nbest={nbest} hypotheses are more than beam={beam} can hold. "
            f"Raise beam to {nbest}, or ask for at most {max(beam, 1)}."
        )
    if problems:
        raise ConfigError(listing("These numbers do not fit a beam search:", problems))
