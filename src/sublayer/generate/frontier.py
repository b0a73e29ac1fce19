"""The bookkeeping of a beam search: what runs, what is complete, and who is done. All of it on the CPU."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from sublayer.generate.candidates import Candidates
from sublayer.generate.decoding import Hypothesis, hypothesis
from sublayer.generate.length import Length
from sublayer.generate.stop import StopRule
from sublayer.generate.trellis import Ending, Trellis


@dataclass
class Frontier:
    """Where the search stands after n tokens.

    longest  (b,) the length limit of each of the b sentences that are still searched
    """

    longest: Tensor
    eos: int
    beam: int
    nbest: int
    length: Length
    stop: StopRule
    n: int = 0
    trellis: Trellis = field(default_factory=Trellis)

    def __post_init__(self) -> None:
        b = len(self.longest)
        self.live = torch.arange(b)  # which sentence each of the b is
        self.totals = torch.zeros(b, 1, dtype=torch.float64)  # one hypothesis a sentence: the prefix
        self.kept = torch.full((b, self.beam), -torch.inf, dtype=torch.float64)  # best complete scores
        self.endings: list[list[Ending]] = [[] for _ in range(b)]

    def advance(self, found: Candidates) -> Candidates:
        """Keep the continuations that are complete, and return the ``beam`` first of the others, which run on.

        The sentences that are done are no longer among them.
        """
        self.n += 1
        ended = found.token == self.eos
        full = self.longest == self.n
        self.complete(found, ended | full[:, None])

        running = found.first(~ended, self.beam)
        ahead = running.total.amax(1)
        reach = self.length.bound(ahead, self.n, self.longest)
        done = full | (ahead == -torch.inf) | self.stop(self.kept, self.nbest, reach)
        if done.any():
            running = running.where(~done)
            self.live, self.longest, self.kept = (x[~done] for x in (self.live, self.longest, self.kept))
        self.trellis.grow(running)
        self.totals = running.total
        return running

    def complete(self, found: Candidates, whole: Tensor) -> None:
        """Keep the hypotheses that are whole (b, k), where they are among the ``beam`` first."""
        found, whole = Candidates(*(x[:, : self.beam] for x in found)), whole[:, : self.beam]
        scores = self.length(found.total, self.n).masked_fill(~whole, -torch.inf)
        better = scores > self.kept[:, self.nbest - 1 : self.nbest]
        if better.any():
            sentences = self.live[:, None].expand_as(scores)[better].tolist()
            new = found.where(better)
            columns = (x.tolist() for x in (scores[better], new.parent, new.token, new.logp))
            for sentence, score, parent, token, logp in zip(sentences, *columns, strict=True):
                self.endings[sentence].append(Ending(score, self.n - 1, parent, token, logp))
        self.kept = torch.cat([self.kept, scores], 1).sort(descending=True).values[:, : self.beam]

    def best(self) -> list[list[Hypothesis]]:
        """The ``nbest`` best complete hypotheses of each sentence; of equal ones the one found first."""
        return [
            [hypothesis(*self.trellis.read(ending), self.eos, self.length) for ending in ranked[: self.nbest]]
            for ranked in (sorted(found, key=lambda ending: -ending.score) for found in self.endings)
        ]
