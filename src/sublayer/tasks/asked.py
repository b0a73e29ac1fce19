"""A question with a part of the text that it is asked of, and what the model says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from sublayer.data.questions import Stretch
from sublayer.data.slide import views
from sublayer.data.texts import Token
from sublayer.train.loss import Loss, cross_entropy

NEVER = -1e4  # a logit that a softmax gives nothing to


class Candidate(NamedTuple):
    """Characters of the text, and log p of them less log p of no answer."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """One window.

    ids      the question, tokens of the text, with specials
    places   where each of these tokens stands in the text
    offset   where the first of them stands in ids
    answers  which of them an answer may begin at: of the windows that overlap, the one that sees most around it
    """

    ids: list[Token]
    places: list[Stretch]
    offset: int
    answers: range

    @classmethod
    def of(
        cls, head: list[Token], ids: Sequence[Token], behind: list[Token], places: Sequence[Stretch], room: float
    ) -> list[Passage]:
        """Windows of `room` tokens of the text at most, that overlap by half."""
        return [
            cls(
                [*head, *ids[part.start : part.end], *behind],
                list(places[part.start : part.end]),
                len(head),
                range(part.first - part.start, part.last - part.start),
            )
            for part in views([1] * len(ids), room)
        ]

    @property
    def rows(self) -> list[int]:
        """Of the first token, which stands for no answer, and of those of the text."""
        return [0, *range(self.offset, self.offset + len(self.places))]

    def target(self, answers: Sequence[Stretch]) -> Stretch:
        """Where, counted as `rows` are, the first answer begins and ends that is wholly here; 0 and 0 for none."""
        for start, end in answers:
            inside = [i for i, place in enumerate(self.places, 1) if place.end > start and place.start < end]
            if inside and self.places[inside[0] - 1].start <= start and self.places[inside[-1] - 1].end >= end:
                return Stretch(inside[0], inside[-1])
        return Stretch(0, 0)


def cost(logits: Tensor, examples: Sequence[tuple[Passage, Stretch]]) -> Loss:
    """Of the logits (N, 2) of all tokens of these windows, one after the other, the mean of what the begin costs and of
    what the end costs: each one of the tokens of the text, or no answer."""
    each, at = [], 0
    for passage, _ in examples:
        each.append(logits[torch.tensor(passage.rows, device=logits.device) + at])
        at += len(passage.ids)
    padded = pad_sequence(each, batch_first=True, padding_value=NEVER)
    right = torch.tensor([target for _, target in examples], device=logits.device)
    begin, end = (cross_entropy(padded[..., side], right[:, side]) for side in (0, 1))
    return Loss((begin.total + end.total) / 2, (begin.nll + end.nll) / 2, len(examples))


def best(logits: Tensor, passage: Passage, longest: int, n: int) -> list[Candidate]:
    """The n likeliest answers of at most `longest` tokens that begin where this window answers for."""
    if not passage.places:
        return []
    none, *_ = said = logits[passage.rows].cpu()
    begin, end = said[1:].unbind(-1)
    scores = begin[:, None] + end - none.sum()
    size = torch.arange(len(end)) - torch.arange(len(begin))[:, None]
    scores.masked_fill_((size < 0) | (size >= longest), -torch.inf)
    scores = scores[passage.answers.start : passage.answers.stop]
    top = scores.flatten().topk(min(n, int(scores.isfinite().sum())))
    found = []
    for score, place in zip(top.values.tolist(), top.indices.tolist(), strict=True):
        first, last = divmod(place, len(end))
        first += passage.answers.start
        found.append(Candidate(passage.places[first].start, passage.places[last].end, score))
    return found
