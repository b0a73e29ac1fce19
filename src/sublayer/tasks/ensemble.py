"""Several runs that answer together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch

from sublayer.errors import ConfigError, listing
from sublayer.tasks.answering import Answering
from sublayer.tasks.search import Search
from sublayer.tasks.translate import Translate
from sublayer.text import AnyTokenizer


class Ensemble(Answering):
    """The mean of the probabilities that several tasks give the next token:     p(token) = 1/M Σ p_m(token)

    tasks  one or more with the same target tokenizer; each reads the source with its own. Settings of the search are
           those of the first, and so are alignments
    names  what they are called in an error; their numbers by default

    ConfigError where a target tokenizer differs from that of the first.
    """

    def __init__(self, tasks: Sequence[Translate], names: Sequence[str] | None = None) -> None:
        if not tasks:
            raise ConfigError("An ensemble of no tasks has no probabilities. Give at least one.")
        names = [f"task {n}" for n in range(1, len(tasks) + 1)] if names is None else names
        _check(list(zip(names, (task.target for task in tasks), strict=True)))
        self.tasks = tuple(tasks)
        self.target: AnyTokenizer = tasks[0].target
        self.search: Search = tasks[0].search

    @property
    def members(self) -> Sequence[Translate]:
        return self.tasks

    @property
    def limit(self) -> float:
        """How many tokens of a text all models can read and write, specials counted."""
        return min(task.limit for task in self.tasks)

    def for_inference(self, dtype: torch.dtype | None = None, quantize: Literal["int8"] | None = None) -> Ensemble:
        """The same of each task in inference form."""
        same = Ensemble([task.for_inference(dtype, quantize) for task in self.tasks])
        same.search = self.search
        return same


def _check(targets: Sequence[tuple[str, AnyTokenizer]]) -> None:
    (name, first), *others = targets
    problems = [
        f"{other} writes {_about(target)}{_parting(first, target)}"
        for other, target in others
        if target.to_json() != first.to_json()
    ]
    if problems:
        title = "An ensemble writes with one vocabulary: train its models with the same target tokenizer. Here"
        raise ConfigError(listing(f"{title} {name} writes {_about(first)}, but", problems))


def _about(tokenizer: AnyTokenizer) -> str:
    return f"{len(tokenizer)} tokens of kind {tokenizer.kind}"


def _parting(ours: AnyTokenizer, theirs: AnyTokenizer) -> str:
    """Where two vocabularies of one size part."""
    if len(ours) != len(theirs):
        return ""
    pairs = enumerate(zip(ours.vocabulary, theirs.vocabulary, strict=True))
    i, (a, b) = next(((i, pair) for i, pair in pairs if pair[0] != pair[1]), (0, ("", "")))
    return f", {b!r} for {a!r} as id {i}" if i else ", put together by other rules"
