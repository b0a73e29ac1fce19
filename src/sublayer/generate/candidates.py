"""The best continuations of a beam, in an order that never depends on the batch."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor


class Candidates(NamedTuple):
    """Continuations by one token, (b, k): k for each of b sentences, those first that are to go on first.

    total   log-probability of the whole hypothesis, fp64
    logp    log-probability of its last token, fp64
    token   its last token
    parent  the row of the decoding that it continues
    """

    total: Tensor
    logp: Tensor
    token: Tensor
    parent: Tensor

    def best(self, k: int) -> Candidates:
        """The k best of each sentence; of equal ones those that stand first."""
        order = self.total.argsort(dim=-1, descending=True, stable=True)[:, :k]
        return Candidates(*(field.gather(1, order) for field in self))

    def first(self, keep: Tensor, k: int) -> Candidates:
        """The first k of each sentence that ``keep`` (b, K) marks; where these are fewer, impossible ones follow."""
        order = (~keep).to(torch.uint8).argsort(dim=-1, stable=True)[:, :k]
        found = Candidates(*(field.gather(1, order) for field in self))
        return found._replace(total=found.total.masked_fill(~keep.gather(1, order), -torch.inf))

    def where(self, keep: Tensor) -> Candidates:
        """Those that ``keep`` (b,) or (b, k) marks."""
        return Candidates(*(field[keep] for field in self))


class Propose(Protocol):
    def __call__(self, logps: Tensor, totals: Tensor, k: int) -> Candidates:
        """At most k continuations of each sentence, as ``continuations`` finds them or in an order of its own.

        k is twice the width of the beam: enough for as many that do not end.
        """


def continuations(logps: Tensor, totals: Tensor, k: int) -> Candidates:
    """The k best continuations of each sentence, or all where there are fewer.

    logps   (b * R, V) log-probabilities of the next token
    totals  (b, R) log-probabilities of the R hypotheses of each sentence

    Of equal totals the earlier hypothesis comes first, then the likelier token, then the lower id.
    What is returned stands on the CPU: it is small, and all that follows is bookkeeping.
    """
    b, R = totals.shape
    logp, token = top(logps, min(k, logps.size(-1)))
    logp = logp.double()
    total = totals.view(b * R, 1) + logp
    parent = torch.arange(b * R)[:, None].expand_as(token)
    return Candidates(*(field.reshape(b, -1) for field in (total, logp, token, parent))).best(k)


def top(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """``values.topk(k)`` of (N, V), brought to the CPU; of equal values the first ones, in their order."""
    best, at = (x.cpu() for x in values.topk(min(k + 1, values.size(-1))))
    # topk promises nothing about equal values. Where there are none its answer is the only one.
    tied = ((best[:, 1:] == best[:, :-1]) & (best[:, 1:] > -torch.inf)).any(-1)
    if tied.any():
        ordered = values[tied.to(values.device)].sort(dim=-1, descending=True, stable=True)
        best[tied], at[tied] = (x[:, : best.size(-1)].cpu() for x in ordered)
    return best[:, :k], at[:, :k]
