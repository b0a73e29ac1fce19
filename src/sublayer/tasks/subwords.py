"""How the pairs that are learned from are cut, where `train.subwords` draws that by chance."""

from __future__ import annotations

import math
from typing import Literal

from sublayer.errors import ConfigError
from sublayer.tasks.recipe import Subwords
from sublayer.text import AnyTokenizer, Tagged, Tokenizer
from sublayer.text.sampling import BpeDropout, Draw, Recut, UnigramSampling

Example = tuple[list[int], list[int]]


class Recuts:
    """Of each side; ConfigError where neither is of a kind that the settings are for.

    limit  how many tokens of a text the model can read, specials counted: a cut that has more is not taken
    """

    def __init__(self, settings: Subwords, source: AnyTokenizer, target: AnyTokenizer, limit: float = math.inf) -> None:
        self.limit = limit
        self.source = None if settings.sides == "target" else _recut(settings, source)
        self.target = None if settings.sides == "source" else _recut(settings, target)
        for name, kind in (("dropout", "bpe"), ("alpha", "unigram")):
            if getattr(settings, name) and kind not in (self._kind("source"), self._kind("target")):
                raise ConfigError(
                    f"train.subwords.{name} is for kind {kind}, and of {settings.sides} the kinds are source: "
                    f"{source.kind}, target: {target.kind}. Set text.source.kind or text.target.kind, or leave it out."
                )

    def __bool__(self) -> bool:
        return self.source is not None or self.target is not None

    def __call__(self, example: Example, draw: Draw) -> Example:
        source, target = example
        return self._cut(self.source, source, draw), self._cut(self.target, target, draw)

    def _cut(self, recut: Recut | None, ids: list[int], draw: Draw) -> list[int]:
        if recut is None:
            return ids
        front = int(len(ids) > 0 and ids[0] >= len(recut.tokenizer))  # a tag stays as it is
        found = [*ids[:front], *recut(ids[front:], draw)]
        return found if len(found) < self.limit else ids

    def _kind(self, side: Literal["source", "target"]) -> str | None:
        recut: Recut | None = getattr(self, side)
        return None if recut is None else recut.kind


def _recut(settings: Subwords, tokenizer: AnyTokenizer) -> Recut | None:
    if isinstance(tokenizer, Tagged):
        tokenizer = tokenizer.own
    if not isinstance(tokenizer, Tokenizer):
        return None
    if settings.dropout and tokenizer.kind == "bpe":
        return BpeDropout(tokenizer, settings.dropout)
    return UnigramSampling(tokenizer, settings.alpha) if settings.alpha and tokenizer.kind == "unigram" else None
