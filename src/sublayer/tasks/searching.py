"""Answers to a batch of sources, as a run's search settings say."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol
from zlib import crc32

import torch
from torch import Tensor

from sublayer.data.batch import pad
from sublayer.errors import ConfigError
from sublayer.generate import (
    GNMT,
    Banks,
    Decoding,
    Draw,
    Guided,
    Hypothesis,
    Length,
    Power,
    Required,
    Token,
    beam_search,
    diverse_beam_search,
    early,
    exact,
    greedy,
    likeliest,
    sample,
    stream,
)
from sublayer.generate.candidates import continuations
from sublayer.models.decoding import TranslationDecoding
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import Mask
from sublayer.tasks.rules import rules_of
from sublayer.tasks.search import Search
from sublayer.text import AnyTokenizer


class Writer(Protocol):
    """What of a task the search needs. `limit` bounds the tokens of an answer."""

    target: AnyTokenizer

    @property
    def limit(self) -> float: ...

    @property
    def device(self) -> torch.device: ...


class Searchable(Writer, Protocol):
    """A `Writer` with one model, and with what that reads."""

    model: EncoderDecoder
    source: AnyTokenizer


class Engine(Protocol):
    """What finds the answers: the model itself, or a program that it was exported to."""

    name: str

    def find(self, task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> Iterable[list[Hypothesis]]:
        """For each source, token ids without specials, its hypotheses, the best first. They may still be looked for
        while the caller goes on."""


class Native:
    """The model itself."""

    name = "native"

    def find(self, task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
        return hypotheses(task, decoding_of(task, ids), ids, search)


def decoding_of(task: Searchable, ids: Sequence[Sequence[int]]) -> TranslationDecoding:
    """The model after it has read these sources, token ids without specials."""
    source, lengths = pad([[*row, task.source.eos] for row in ids], task.source.pad)
    mask = Mask.lengths(lengths.to(task.device)) if int(lengths.min()) < source.size(1) else None
    return TranslationDecoding(task.model, source.to(task.device), mask)


def hypotheses(
    task: Writer, decoding: Decoding, ids: Sequence[Sequence[int]], search: Search, start: Tensor | None = None
) -> list[list[Hypothesis]]:
    """The search that the settings ask for, over any decoding of these sources. A source for which nothing may come,
    its rules contradicting each other, has one empty hypothesis that is not finished.

    start  (B, n) what the answers go on from, BOS where nothing is said
    """
    guided, required, start, common = _begin(task, decoding, ids, search, start)
    common["length"] = length_rule(search)
    stop = exact if search.stop == "exact" else early
    if search.temperature:
        found = sample(guided, start, n=search.nbest, keys=_keys(ids), **_drawn(search), **common)
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


def _begin(
    task: Writer, decoding: Decoding, ids: Sequence[Sequence[int]], search: Search, start: Tensor | None
) -> tuple[Decoding, Required | None, Tensor, dict[str, Any]]:
    """The decoding under its rules, the phrases among them, what every row begins with, and settings of any search."""
    if search.replace_unknown and task.target.kind not in ("char", "word", "split"):
        raise ConfigError(
            "search.replace_unknown puts words of the source where unknown ones would stand, in a target of kind char, "
            f"word or split, not {task.target.kind!r}: leave it out, or train with targets of kind word."
        )
    longest = longest_answers(task, ids, search)
    rules, required = rules_of(task.target, ids, search, longest)
    guided = Guided(decoding, *rules) if rules else decoding
    if start is None:
        start = torch.full((len(ids), 1), task.target.bos, device=task.device)
    return guided, required, start, {"eos": task.target.eos, "max_len": longest, "never": never(task.target, search)}


def never(target: AnyTokenizer, search: Search) -> list[int]:
    """The tokens that no answer holds. A published vocabulary may have one token for several of these ends."""
    tokens = [target.pad, target.bos, *([] if search.replace_unknown else [target.unk])]
    return [token for token in tokens if token != target.eos]


def tokens(
    task: Writer, decoding: Decoding, ids: Sequence[Sequence[int]], search: Search, start: Tensor | None = None
) -> Iterator[Token]:
    """The one answer to each source, token by token: greedy, or drawn. ConfigError for settings that compare answers or
    change them afterwards."""
    others = [name for name in ("beam", "groups", "nbest") if getattr(search, name) > 1]
    others += [name for name in ("require", "replace_unknown") if getattr(search, name)]
    if others:
        raise ConfigError(
            f"search.{', search.'.join(others)}: an answer that is shown while it is written is the only one, and "
            "stays as it is. Leave them out, or do not stream."
        )
    guided, _, start, common = _begin(task, decoding, ids, search, start)
    choose = Draw(keys=_keys(ids), **_drawn(search)) if search.temperature else likeliest
    return stream(guided, start, choose=choose, **common)


def _keys(ids: Sequence[Sequence[int]]) -> list[int]:
    return [crc32(repr(list(row)).encode()) for row in ids]


def _drawn(search: Search) -> dict[str, Any]:
    return {name: getattr(search, name) for name in ("seed", "temperature", "top_k", "top_p", "min_p")}


NOTHING = Hypothesis((), -math.inf, -math.inf, (), False)


def longest_answers(task: Writer, ids: Sequence[Sequence[int]], search: Search) -> Tensor:
    """How many tokens each answer may have, EOS counted (B,)."""
    lengths = torch.tensor([len(row) + 1 for row in ids])
    return (search.max_ratio * lengths + search.max_extra).clamp(max=task.limit).long()


def length_rule(search: Search) -> Length:
    return (GNMT if search.length_rule == "gnmt" else Power)(search.length_penalty)
