"""Scores of labels against the right ones. A text has one label, several or none.

accuracy  % of texts whose labels are exactly the right ones
micro_f1  100 · 2 tp / (2 tp + fp + fn) over all labels together; with one label a text it is the accuracy
macro_f1  the mean of the labels' own F1, over the labels that are right or given anywhere
"""

from collections.abc import Callable, Sequence

import numpy as np

from sublayer.errors import ConfigError, DataError, nearest
from sublayer.evaluate.metrics import Metric, score_of
from sublayer.evaluate.score import Measured, Score

Labels = Sequence[str]
Counts = np.ndarray


def f1(tp: Counts, fp: Counts, fn: Counts) -> Counts:
    """100 · 2 tp / (2 tp + fp + fn); 0 where there is nothing to find and nothing was found."""
    return 100 * 2 * tp / np.maximum(2 * tp + fp + fn, 1)


def _accuracy(given: Sequence[Labels], right: Sequence[Labels]) -> Measured:
    rows = [(set(a) == set(b), 1) for a, b in zip(given, right, strict=True)]
    return Measured(rows, lambda sums: 100 * sums[0] / sums[1], len(rows), "labels:all")


def _micro(given: Sequence[Labels], right: Sequence[Labels]) -> Measured:
    rows = [_found(set(a), set(b)) for a, b in zip(given, right, strict=True)]
    return Measured(rows, lambda sums: float(f1(*np.asarray(sums))), len(rows), "average:micro")


def _macro(given: Sequence[Labels], right: Sequence[Labels]) -> Measured:
    rows = [row.ravel().tolist() for row in _by_label(given, right)[1]]

    def score(sums: Sequence[float]) -> float:
        tp, fp, fn = np.asarray(sums).reshape(3, -1)
        return float(f1(tp, fp, fn)[tp + fp + fn > 0].mean())

    return Measured(rows, score, len(rows), "average:macro")


def _found(given: set[str], right: set[str]) -> tuple[int, int, int]:
    return len(given & right), len(given - right), len(right - given)


def _by_label(given: Sequence[Labels], right: Sequence[Labels]) -> tuple[list[str], np.ndarray]:
    """The labels in order, and for each item (3, labels): true positives, false positives, false negatives."""
    labels = sorted({label for each in (*given, *right) for label in each})
    at = {label: i for i, label in enumerate(labels)}
    rows = np.zeros((len(given), 3, len(labels)))
    for row, a, b in zip(rows, given, right, strict=True):
        for label in set(a) | set(b):
            row[0 if label in a and label in b else 1 if label in a else 2, at[label]] = 1
    return labels, rows


def per_class(given: Sequence[Labels], right: Sequence[Labels], unit: str = "texts") -> list[Score]:
    """The F1 of each label, with precision and recall in the signature; the count is of the items that have it."""
    labels, rows = _by_label(given, right)
    found = []
    for label, (tp, fp, fn) in zip(labels, rows.sum(0).T, strict=True):
        precision, recall = (100 * tp / max(tp + wrong, 1) for wrong in (fp, fn))
        signature = f"precision:{precision:.2f}|recall:{recall:.2f}"
        found.append(Score(f"f1:{label}", float(f1(tp, fp, fn)), int(tp + fn), unit, True, signature))
    return found


_MEASURES: dict[str, Callable[[Sequence[Labels], Sequence[Labels]], Measured]] = {
    "accuracy": _accuracy,
    "micro_f1": _micro,
    "macro_f1": _macro,
}
LABEL_METRICS = {name: Metric(name, True, "texts", None) for name in _MEASURES}


def evaluate_labels(
    names: Sequence[str], given: Sequence[Labels], right: Sequence[Labels], *, bootstrap: int = 0, seed: int = 1
) -> list[Score]:
    """A score a name, in that order. ConfigError for an unknown name, DataError where there is nothing to score."""
    if unknown := [name for name in names if name not in _MEASURES]:
        raise ConfigError(f"unknown metric {unknown[0]!r}. {nearest(unknown[0], _MEASURES)}")
    if not right:
        raise DataError("There is nothing to score: 0 texts.")
    return [score_of(LABEL_METRICS[name], _MEASURES[name](given, right), bootstrap, seed) for name in names]
