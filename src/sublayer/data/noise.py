"""Texts made worse on purpose, so that a model learns to read what is not clean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Noise:
    """Lample et al. 2018, section 2.3, on token ids.

    drop   chance of a token to be left out; one is always left
    blank  chance of a token to become the unknown one
    mix    how many places a token moves at most; 0: none does
    """

    drop: float = 0.0
    blank: float = 0.0
    mix: int = 0

    def __call__(self, ids: Sequence[int], unknown: int, random: np.random.Generator) -> list[int]:
        tokens = np.asarray(ids)
        if self.mix:
            tokens = tokens[np.argsort(np.arange(len(tokens)) + random.uniform(0, self.mix + 1, len(tokens)))]
        if self.drop:
            kept = random.random(len(tokens)) >= self.drop
            tokens = tokens[kept] if kept.any() else tokens[:1]
        if self.blank:
            tokens = np.where(random.random(len(tokens)) < self.blank, unknown, tokens)
        found: list[int] = tokens.tolist()
        return found
