"""Answers to a batch of sources, as a run's search settings say."""

import math
from collections.abc import Sequence
from typing import Any, Protocol
from zlib import crc32

import torch
from torch import Tensor

from sublayer.data.batch import pad
from sublayer.generate import (
    GNMT,
    Banks,
    Decoding,
    Guided,
    Hypothesis,
    Length,
    Power,
    beam_search,
    diverse_beam_search,
    early,
    exact,
    greedy,
    sample,
)
from sublayer.generate.candidates import continuations
from sublayer.models.decoding import TranslationDecoding
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import Mask
from sublayer.tasks.rules import rules_of
from sublayer.tasks.search import Search
from sublayer.text import Tokenizer


class Writes(Protocol):
    """What of a task the search needs. `limit` bounds the tokens of an answer."""

    target: Tokenizer

    @property
    def limit(self) -> float: ...

    @property
    def device(self) -> torch.device: ...


class Searchable(Writes, Protocol):
    """One that reads sources."""

    model: EncoderDecoder
    source: Tokenizer


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
        return hypotheses(task, TranslationDecoding(task.model, source.to(task.device), mask), ids, search)


def hypotheses(
    task: Writes, decoding: Decoding, ids: Sequence[Sequence[int]], search: Search, start: Tensor | None = None
) -> list[list[Hypothesis]]:
    """The search that the settings ask for, over any decoding of these sources. A source for which nothing may come,
    its rules contradicting each other, has one empty hypothesis that is not finished.

    start  (B, n) what the answers go on from, BOS where nothing is said
    """
    longest = longest_answers(task, ids, search)
    rules, required = rules_of(task.target, ids, search, longest)
    guided = Guided(decoding, *rules) if rules else decoding
    if start is None:
        start = torch.full((len(ids), 1), task.target.bos, device=task.device)
    common: dict[str, Any] = {
        "eos": task.target.eos,
        "max_len": longest,
        "length": length_rule(search),
        "never": (task.target.pad, task.target.unk, task.target.bos),
    }
    stop = exact if search.stop == "exact" else early
    if search.temperature:
        keys = [crc32(repr(list(row)).encode()) for row in ids]
        drawn = {name: getattr(search, name) for name in ("seed", "temperature", "top_k", "top_p", "min_p")}
        found = sample(guided, start, n=search.nbest, keys=keys, **drawn, **common)
    elif search.groups > 1:
        found = diverse_beam_search(
            guided, start, beam=search.beam, groups=search.groups, diversity=search.diversity, stop=stop, **common
        )
    elif search.beam == 1 and required is None:
        found = [[hypothesis] for hypothesis in greedy(guided, start, **common)]
    else:
        propose = Banks(guided, required) if required is not None and isinstance(guided, Guided) else continuations
        found = beam_search(guided, start, beam=search.beam, nbest=search.nbest, stop=stop, propose=propose, **common)
    return [answers[: search.nbest] or [NOTHING] for answers in found]


NOTHING = Hypothesis((), -math.inf, -math.inf, (), False)


def longest_answers(task: Writes, ids: Sequence[Sequence[int]], search: Search) -> Tensor:
    """How many tokens each answer may have, EOS counted (B,)."""
    lengths = torch.tensor([len(row) + 1 for row in ids])
    return (search.max_ratio * lengths + search.max_extra).clamp(max=task.limit).long()


def length_rule(search: Search) -> Length:
    return (GNMT if search.length_rule == "gnmt" else Power)(search.length_penalty)
