"""Is what was exported the same model? Told by what it answers."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch

from sublayer.errors import ExportError
from sublayer.generate import Hypothesis
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Engine, Native
from sublayer.tasks.translate import Translate
from sublayer.text.special import SPECIALS

TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Comparison:
    """Greedy answers to `sources` random texts: how many were the model's own, token for token, and how far apart the
    log-probabilities of their tokens were at most."""

    sources: int
    identical: int
    difference: float

    def __str__(self) -> str:
        return (
            f"{self.identical} of {self.sources} greedy answers identical, "
            f"log-probabilities within {self.difference:.1e}"
        )


@torch.inference_mode()
def compare(task: Translate, engine: Engine, sources: int = 50) -> Comparison:
    """ExportError where an answer differs, or a log-probability by more than 1e-4."""
    draw, longest = random.Random(1), int(min(24, task.limit - 1))
    ids = [draw.choices(range(len(SPECIALS), len(task.source)), k=draw.randint(1, longest)) for _ in range(sources)]
    search = Search(beam=1, max_ratio=1, max_extra=8)
    pairs = list(zip(_answers(task, Native(), ids, search), _answers(task, engine, ids, search), strict=True))
    same = [(ours, theirs) for ours, theirs in pairs if ours.tokens == theirs.tokens]
    gaps = [abs(a - b) for ours, theirs in same for a, b in zip(ours.token_logps, theirs.token_logps, strict=True)]
    found = Comparison(sources, len(same), max(gaps, default=0.0))
    if found.identical < sources or found.difference > TOLERANCE:
        raise ExportError(f"The exported model is not the same: {found}, expected all and 1e-4. Nothing was kept.")
    return found


def _answers(task: Translate, engine: Engine, ids: list[list[int]], search: Search) -> list[Hypothesis]:
    return [hypotheses[0] for hypotheses in engine.find(task, ids, search)]
