"""What the search settings allow and demand of an answer, as rules over tokens."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from sublayer.errors import ConfigError
from sublayer.generate import (
    Forbidden,
    ForcedPrefix,
    MinLength,
    NoRepeat,
    RepetitionPenalty,
    Required,
    Rule,
    StopStrings,
)
from sublayer.tasks.search import Search
from sublayer.text import AnyTokenizer


def rules_of(
    target: AnyTokenizer, ids: Sequence[Sequence[int]], search: Search, longest: Tensor
) -> tuple[list[Rule], Required | None]:
    """The rules for the answers to these sources, and the one among them that asks for phrases. Stop strings come
    last."""
    eos = target.eos
    if target.kind == "backward" and (asked := [n for n in ("prefix", "stop_strings") if getattr(search, n)]):
        raise ConfigError(
            f"search.{asked[0]} is about where an answer begins, and this model writes its answers from the end: "
            "leave it out, or train with text.target.kind char."
        )
    rules: list[Rule] = []
    required = None
    if search.min_length or search.min_ratio:
        least = [max(search.min_length, math.ceil(search.min_ratio * (len(row) + 1))) for row in ids]
        rules.append(MinLength(torch.tensor(least), eos))
    if search.repetition_penalty != 1:
        rules.append(RepetitionPenalty(search.repetition_penalty))
    if search.no_repeat:
        rules.append(NoRepeat(search.no_repeat))
    if search.forbid:
        rules.append(Forbidden([spelt for phrase in search.forbid for spelt in _spellings(target, phrase)]))
    if begun := target.encode(search.prefix):
        rules.append(ForcedPrefix([begun] * len(ids)))
    if search.require:
        phrases = [_spellings(target, phrase)[-1] for phrase in search.require]
        required = Required([phrases] * len(ids), eos, longest)
        rules.append(required)
    if search.stop_strings:
        rules.append(StopStrings(target.decode, search.stop_strings, eos))
    return rules, required


def _spellings(tokenizer: AnyTokenizer, phrase: str) -> list[list[int]]:
    """The tokens of a phrase at the start of a text, and, for tokens that hold the space before them, inside it."""
    inside = [tokenizer.encode(f" {phrase}")] if tokenizer.kind in ("bpe", "unigram") else []
    return [tokenizer.encode(phrase), *inside]
