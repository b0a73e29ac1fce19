"""How well the cosines of pairs of texts follow given scores, and how often a text finds its partner.

spearman   100 · correlation of the ranks, ties at their mean rank
pearson    100 · correlation of the numbers themselves
retrieval  % of texts whose nearest among all second texts is one that stands beside them
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from sublayer.errors import DataError
from sublayer.evaluate.metrics import Metric, score_of
from sublayer.evaluate.score import Measured, Score

Numbers = Sequence[float] | np.ndarray

SIMILARITY_METRICS = {
    m.name: m
    for m in (
        Metric("spearman", True, "pairs", None),
        Metric("pearson", True, "pairs", None),
        Metric("retrieval", True, "texts", None),
    )
}


def ranks(numbers: Numbers) -> np.ndarray:
    """From 1; equal numbers share the mean of their ranks."""
    _, place, counts = np.unique(np.asarray(numbers), return_inverse=True, return_counts=True)
    last = counts.cumsum()
    return (last - (counts - 1) / 2)[place]


def pearson(a: Numbers, b: Numbers) -> float:
    """Σ (a - ā)(b - b̄) / √(Σ (a - ā)² · Σ (b - b̄)²), -1 to 1; nan where one side is the same everywhere."""
    x, y = (np.asarray(side, dtype=np.float64) - np.mean(side, dtype=np.float64) for side in (a, b))
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread else float("nan")


def spearman(a: Numbers, b: Numbers) -> float:
    """`pearson` of the ranks (Spearman 1904)."""
    return pearson(ranks(a), ranks(b))


_CORRELATIONS: dict[str, Callable[[Numbers, Numbers], float]] = {"spearman": spearman, "pearson": pearson}


def evaluate_similarity(name: str, given: Numbers, right: Numbers, *, bootstrap: int = 0, seed: int = 1) -> Score:
    """`spearman` or `pearson` of cosines and the right scores. DataError where all scores are the same."""
    a, b = np.asarray(given, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if len(set(b.tolist())) < 2:
        raise DataError(f"{name} needs pairs with different scores, and of these {len(b)} pairs all have the same.")
    measure = _CORRELATIONS[name]
    interval = _interval(partial(_drawn, measure, a, b), len(a), bootstrap, seed) if bootstrap else None
    return Score(name, 100 * measure(a, b), len(a), "pairs", True, "similarity:cosine|×100", interval)


def evaluate_retrieval(found: Sequence[bool], *, bootstrap: int = 0, seed: int = 1) -> Score:
    """`retrieval`: of each text whether its nearest is a partner."""
    measured = Measured(
        [(hit, 1) for hit in found], lambda sums: 100 * sums[0] / sums[1], len(found), "similarity:cosine|nearest:1"
    )
    return score_of(SIMILARITY_METRICS["retrieval"], measured, bootstrap, seed)


def _drawn(measure: Callable[[Numbers, Numbers], float], a: np.ndarray, b: np.ndarray, rows: np.ndarray) -> float:
    return 100 * measure(a[rows], b[rows])


def _interval(measure: Callable[[np.ndarray], float], items: int, samples: int, seed: int) -> tuple[float, float]:
    """95 % percentile interval over corpora drawn with replacement: ranks are not sums, so each is ranked anew."""
    generator = np.random.default_rng(seed)
    low, high = np.nanpercentile([measure(generator.integers(items, size=items)) for _ in range(samples)], [2.5, 97.5])
    return float(low), float(high)
