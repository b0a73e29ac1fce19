"""Answers to a batch of sources, as a run's search settings say."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from sublayer.data.batch import pad
from sublayer.generate import GNMT, Decoding, Hypothesis, Length, Power, beam_search, early, exact, greedy
from sublayer.models.decoding import TranslationDecoding
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import Mask
from sublayer.tasks.recipe import Search
from sublayer.text import Tokenizer


class Searchable(Protocol):
    """What of a task the search needs. `limit` bounds the tokens of an answer."""

    model: EncoderDecoder
    source: Tokenizer
    target: Tokenizer

    @property
    def limit(self) -> float: ...

    @property
    def device(self) -> torch.device: ...


class Engine(Protocol):
    """What finds the answers: the model itself, or a program that it was exported to."""

    name: str

    def find(self, task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
        """For each source, token ids without specials, its hypotheses, the best first."""


class Native:
    """The model itself."""

    name = "native"

    def find(self, task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
        source, lengths = pad([[*row, task.source.eos] for row in ids], task.source.pad)
        mask = Mask.lengths(lengths.to(task.device)) if int(lengths.min()) < source.size(1) else None
        longest = longest_answers(task, ids, search)
        start = torch.full((len(ids), 1), task.target.bos, device=task.device)
        decoding = TranslationDecoding(task.model, source.to(task.device), mask)
        return hypotheses(task, decoding, start, longest, search)


def hypotheses(
    task: Searchable, decoding: Decoding, start: Tensor, longest: Tensor, search: Search
) -> list[list[Hypothesis]]:
    """The search that the settings ask for, over any decoding."""
    eos, never = task.target.eos, (task.target.pad, task.target.unk, task.target.bos)
    if search.beam == 1:
        one = greedy(decoding, start, eos=eos, max_len=longest, length=length_rule(search), never=never)
        return [[hypothesis] for hypothesis in one]
    return beam_search(
        decoding,
        start,
        eos=eos,
        beam=search.beam,
        max_len=longest,
        length=length_rule(search),
        nbest=search.nbest,
        never=never,
        stop=exact if search.stop == "exact" else early,
    )


def longest_answers(task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> Tensor:
    """How many tokens each answer may have, EOS counted (B,)."""
    lengths = torch.tensor([len(row) + 1 for row in ids])
    return (search.max_ratio * lengths + search.max_extra).clamp(max=task.limit).long()


def length_rule(search: Search) -> Length:
    return (GNMT if search.length_rule == "gnmt" else Power)(search.length_penalty)
