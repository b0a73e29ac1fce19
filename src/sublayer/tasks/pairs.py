"""Pairs of texts and their vectors: what they cost, and how good they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from sublayer.data.rows import Row
from sublayer.errors import ConfigError, DataError, listing, nearest
from sublayer.evaluate import SIMILARITY_METRICS, Score, evaluate_retrieval, evaluate_similarity
from sublayer.train.loss import Loss, cross_entropy

OF_SCORES, OF_PARTNERS = ("spearman", "pearson", "loss"), ("retrieval", "loss")
ROWS = 256  # texts that are compared at a time with all others
NEVER = -1e4  # a score that a softmax gives nothing to


def regress(cosines: Tensor, targets: Tensor) -> Loss:
    """Σ (cos - target)² over pairs (N,). Reimers and Gurevych 2019, section 3, "regression"."""
    total = (cosines - targets).square().sum()
    return Loss(total, total.detach(), len(targets))


def contrast(first: Tensor, second: Tensor, same: Tensor, scale: float) -> Loss:
    """-log softmax_j(scale · cos(first_i, second_j)) at j = i: every other second text of the batch is a wrong one.
    Henderson et al. 2017, section 4.4.

    first, second  (N, D)
    same           (N, N) where j ≠ i is as right as i: one and the same text stands in both pairs
    """
    cosines = F.normalize(first, dim=-1) @ F.normalize(second, dim=-1).T
    logits = (scale * cosines).masked_fill(same, NEVER)
    return cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def alike(pairs: Sequence[tuple[object, object]]) -> Tensor:
    """(N, N): whether two different pairs share a text on the same side."""
    first, second = (_equal([pair[side] for pair in pairs]) for side in (0, 1))
    return (first | second).fill_diagonal_(False)


def _equal(texts: Sequence[object]) -> Tensor:
    numbers: dict[object, int] = {}
    named = torch.tensor([numbers.setdefault(text, len(numbers)) for text in texts])
    return named[:, None] == named


def scores_of(rows: Sequence[Row]) -> list[float]:
    """The third cells. DataError naming each line where that is no number."""
    found, bad = [], []
    for row in rows:
        try:
            found.append(float(row.cells[2]))
        except ValueError:
            found.append(math.nan)
        if not math.isfinite(found[-1]):
            bad.append(f"line {row.line}: {row.cells[2]!r}")
    if bad:
        raise DataError(listing("Scores that are no numbers:", bad))
    return found


def possible(items: Sequence[Row], metrics: Sequence[str]) -> None:
    """DataError where there is no pair; ConfigError for metrics that pairs of this kind have not."""
    if not items:
        raise DataError("There is nothing to evaluate: 0 pairs.")
    known = (*SIMILARITY_METRICS, "loss")
    if unknown := [name for name in metrics if name not in known]:
        raise ConfigError(f"unknown metric {unknown[0]!r}. {nearest(unknown[0], known)}")
    scored = len(items[0].cells) == 3
    of = OF_SCORES if scored else OF_PARTNERS
    if wrong := [name for name in metrics if name not in of]:
        kind = "with scores" if scored else "without scores"
        raise ConfigError(f"{', '.join(wrong)}: these are pairs {kind}. Of such there is --metric {', '.join(of)}.")


def of_scores(
    cosines: list[float],
    items: Sequence[Row],
    metrics: Sequence[str],
    scaled: Callable[[float], float | None],
    bootstrap: int,
) -> list[Score]:
    """How the cosines of pairs follow their scores."""
    right = scores_of(items)
    scores = []
    for name in metrics:
        if name != "loss":
            scores.append(evaluate_similarity(name, cosines, right, bootstrap=bootstrap))
            continue
        targets = [target for target in map(scaled, right) if target is not None]
        if not targets:
            raise ConfigError("loss: this model was learned from pairs without scores, and does not know their range.")
        error = regress(torch.tensor(cosines), torch.tensor(targets)).mean
        scores.append(Score("loss", float(error), len(right), "pairs", False, "loss|squared error of cosines"))
    return scores


def of_partners(
    first: Tensor, second: Tensor, items: Sequence[Row], metrics: Sequence[str], scale: float, bootstrap: int
) -> list[Score]:
    """Whether the first texts find the second ones, among all second texts of the file, each counted once. Both sides
    (N, D) are of length 1. `loss` is that of training with all of them as one batch."""
    row_of = {row.cells[1]: i for i, row in reversed(list(enumerate(items)))}
    number = {text: column for column, text in enumerate(row_of)}
    candidates = second[list(row_of.values())]
    partners: dict[str, set[int]] = {}
    for row in items:
        partners.setdefault(row.cells[0], set()).add(number[row.cells[1]])
    nll, found = 0.0, []
    for start in range(0, len(items), ROWS):
        cosines = first[start : start + ROWS] @ candidates.T
        for row, each in zip(items[start : start + ROWS], cosines, strict=True):
            mine, own = partners[row.cells[0]], number[row.cells[1]]
            found.append(int(each.argmax()) in mine)
            each = each.index_fill(0, torch.tensor([*mine - {own}], dtype=torch.long), -math.inf)
            nll -= float((scale * each).log_softmax(-1)[own])
    loss = Score("loss", nll / len(items), len(items), "pairs", False, f"loss|texts:{len(candidates)}")
    return [loss if name == "loss" else evaluate_retrieval(found, bootstrap=bootstrap) for name in metrics]
