"""A beam that makes room for required phrases."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from sublayer.generate.candidates import Candidates, continuations, top
from sublayer.generate.guided import Guided
from sublayer.generate.required import Required

Text = tuple[int, tuple[int, ...]]  # the row of the batch, and what it has generated


class Candidate(NamedTuple):
    total: float
    logp: float
    token: int
    parent: int


class Banks:
    """Continuations for ``beam_search`` that share the beam out among the stages of required phrases.

    Candidates are the likeliest continuations of a sentence, the likeliest of each hypothesis, and those that begin
    a missing phrase or go on with it. Those after which equally many tokens are missing form a bank. The
    banks take turns, and the one with the fewest comes first: each has an equal share of the beam, and what one
    does not use goes to the others. So a beam of 1 writes the phrases as soon as it can.

    Dynamic beam allocation, Post and Vilar 2018; theirs leave unused places to the nearest banks first.

    guided  the decoding that is searched; ``rule`` is among its rules
    """

    def __init__(self, guided: Guided, rule: Required) -> None:
        self.guided = guided
        self.rule = rule

    def __call__(self, logps: Tensor, totals: Tensor, k: int) -> Candidates:
        assert self.guided.state is not None  # the search has just stepped
        written, row = self.guided.state
        texts = [(sentence, tuple(text)) for sentence, text in zip(row.tolist(), written.tolist(), strict=True)]
        b, width = totals.shape
        sentences: list[list[Candidate]] = [[] for _ in range(b)]
        for candidate in self.candidates(logps, totals, k, texts):
            sentences[candidate.parent // width].append(candidate)
        rows = [
            [*self.turns(found, texts)[:k], *[Candidate(-torch.inf, -torch.inf, 0, i * width)] * (k - len(found))]
            for i, found in enumerate(sentences)
        ]
        total, logp, token, parent = torch.tensor(rows, dtype=torch.float64).unbind(-1)
        return Candidates(total, logp, token.long(), parent.long())

    def candidates(self, logps: Tensor, totals: Tensor, k: int, texts: Sequence[Text]) -> list[Candidate]:
        """All that are possible, those of the same sentence best first."""
        likeliest = continuations(logps, totals, k)
        pairs = set(zip(likeliest.parent.flatten().tolist(), likeliest.token.flatten().tolist(), strict=True))
        pairs |= set(enumerate(top(logps, 1)[1].flatten().tolist()))
        pairs |= {(parent, token) for parent, text in enumerate(texts) for token in self.rule.onward(*text)}
        parent, token = torch.tensor(list(pairs)).unbind(1)
        logp = logps[parent.to(logps.device), token.to(logps.device)].double().cpu()
        total = totals.flatten()[parent] + logp
        found = map(Candidate, total.tolist(), logp.tolist(), token.tolist(), parent.tolist())
        possible = [candidate for candidate in found if candidate.total > -torch.inf]
        return sorted(possible, key=lambda c: (-c.total, c.parent, -c.logp, c.token))

    def turns(self, candidates: Iterable[Candidate], texts: Sequence[Text]) -> list[Candidate]:
        banks = defaultdict(list)
        for candidate in candidates:
            row, text = texts[candidate.parent]
            banks[self.rule.need(row, (*text, candidate.token))].append(candidate)
        order = sorted((place, need, c) for need, bank in banks.items() for place, c in enumerate(bank))
        return [candidate for _, _, candidate in order]
