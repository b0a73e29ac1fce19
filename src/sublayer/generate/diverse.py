"""Diverse beam search: several beams a sentence, each kept from writing what those before it write.

Vijayakumar et al. 2018, with the Hamming distance. The groups take turns at every step. For group g

    score(token) = log p(token) - diversity · (how many hypotheses of the groups before g have just gone on with it)

chooses the tokens of this one step. What is carried on, compared and reported are the model's own
log-probabilities. A group that is done, as its stop rule says, writes no more and costs no more.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from sublayer.errors import ConfigError, listing
from sublayer.generate.candidates import Candidates, continuations
from sublayer.generate.decoding import Decoding, Hypothesis, limits, without
from sublayer.generate.frontier import Frontier
from sublayer.generate.length import DEFAULT, Length
from sublayer.generate.stop import StopRule, exact


def diverse_beam_search(
    decoding: Decoding,
    start: Tensor,
    *,
    eos: int,
    beam: int,
    groups: int,
    diversity: float,
    max_len: Tensor | int,
    length: Length = DEFAULT,
    never: Sequence[int] = (),
    stop: StopRule = exact,
) -> list[list[Hypothesis]]:
    """The best hypothesis of each group for each prefix, best first; equal ones once.

    beam       hypotheses that run side by side in each group
    groups     beams a sentence. The first is a plain beam search
    diversity  what a token costs for each hypothesis before it that has just come to it; 0.2 to 0.8 in the paper

    The other arguments are those of ``beam_search``. Raises ConfigError or ShapeError for numbers that cannot be.
    """
    check(beam, groups, diversity)
    longest = torch.tensor(limits(max_len, len(start)), dtype=torch.float64)
    decoding = without(decoding, never, start.device)
    frontiers = [Frontier(longest, eos, beam, 1, length, stop) for _ in range(groups)]
    tokens = start
    while searching := [frontier for frontier in frontiers if len(frontier.live)]:
        running = advance(searching, decoding.step(tokens), len(start), diversity)
        if len(running.parent):
            decoding.select(running.parent.to(start.device))
            tokens = running.token[:, None].to(start.device)
    return [merge(found) for found in zip(*(frontier.best() for frontier in frontiers), strict=True)]


def advance(frontiers: Sequence[Frontier], logps: Tensor, sentences: int, diversity: float) -> Candidates:
    """One step of every group. The rows (N, V) of logps, and those returned, are the groups' one after the other."""
    taken = logps.new_zeros(sentences, logps.size(-1))
    running, row = [], 0
    for frontier in frontiers:
        totals = frontier.totals
        own = logps[row : row + totals.numel()]
        cost = diversity * taken[frontier.live.to(logps.device)].repeat_interleave(totals.size(1), 0)
        new = frontier.advance(dissimilar(own, totals, 2 * frontier.beam, cost))
        sentence, token = frontier.live[:, None].expand_as(new.token), new.token
        counts = (new.total > -torch.inf).to(taken)
        taken.index_put_((sentence.to(logps.device), token.to(logps.device)), counts, accumulate=True)
        running.append(Candidates(*(field.flatten() for field in new._replace(parent=new.parent + row))))
        if frontier.n > 1:  # the first step reads each prefix once, for all groups
            row += totals.numel()
    return Candidates(*map(torch.cat, zip(*running, strict=True)))


def dissimilar(logps: Tensor, totals: Tensor, k: int, cost: Tensor) -> Candidates:
    """``continuations`` in the order of logps - cost, with the totals of logps."""
    found = continuations(logps - cost, totals, k)
    logp = logps[found.parent.to(logps.device), found.token.to(logps.device)].double().cpu()
    return found._replace(logp=logp, total=totals.flatten()[found.parent] + logp)


def merge(found: Sequence[list[Hypothesis]]) -> list[Hypothesis]:
    """The hypotheses of all groups, best first, those with equal tokens once."""
    distinct = {(h.tokens, h.finished): h for group in found for h in group}
    return sorted(distinct.values(), key=lambda h: -h.score)


def check(beam: int, groups: int, diversity: float) -> None:
    rules = {
        f"beam={beam}: each group must be at least 1 wide.": beam >= 1,
        f"groups={groups}: there must be at least 1.": groups >= 1,
        f"diversity={diversity}: must be at least 0, where all groups write the same.": diversity >= 0,
    }
    if problems := [problem for problem, holds in rules.items() if not holds]:
        raise ConfigError(listing("These numbers do not fit a diverse beam search:", problems))
