"""Answers to a batch of sources, as a run's search settings say."""

from collections.abc import Sequence
from typing import Protocol

import torch

from sublayer.data.batch import pad
from sublayer.generate import GNMT, Hypothesis, Length, Power, beam_search, early, exact, greedy
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


def find(task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
    """For each source, token ids without specials, its hypotheses, the best first."""
    source, lengths = pad([[*row, task.source.eos] for row in ids], task.source.pad)
    mask = Mask.lengths(lengths.to(task.device)) if int(lengths.min()) < source.size(1) else None
    longest = (search.max_ratio * lengths + search.max_extra).clamp(max=task.limit).long()
    start = torch.full((len(ids), 1), task.target.bos, device=task.device)
    decoding = TranslationDecoding(task.model, source.to(task.device), mask)
    never = (task.target.pad, task.target.unk, task.target.bos)
    rule: Length = (GNMT if search.length_rule == "gnmt" else Power)(search.length_penalty)
    if search.beam == 1:
        one = greedy(decoding, start, eos=task.target.eos, max_len=longest, length=rule, never=never)
        return [[hypothesis] for hypothesis in one]
    return beam_search(
        decoding,
        start,
        eos=task.target.eos,
        beam=search.beam,
        max_len=longest,
        length=rule,
        nbest=search.nbest,
        never=never,
        stop=exact if search.stop == "exact" else early,
    )
