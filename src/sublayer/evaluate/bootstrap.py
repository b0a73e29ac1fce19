"""How far a score would move on other items of the same kind."""

from collections.abc import Sequence

import numpy as np

from sublayer.evaluate.score import Measured


def bootstrap_interval(measured: Measured, samples: int, seed: int) -> tuple[float, float]:
    """95 % percentile interval over `samples` corpora drawn from the items with replacement.

    Efron and Tibshirani 1993, chapter 13; for corpus scores such as BLEU: Koehn 2004, section 3.
    The same seed draws the same items, whatever the metric.
    """
    scores = [measured.score(sums) for sums in _resampled_sums(measured.statistics, samples, seed)]
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


def _resampled_sums(statistics: Sequence[Sequence[float]], samples: int, seed: int) -> list[list[float]]:
    """(samples, k) sums of the (N, k) statistics: a sample is how often each item was drawn."""
    rows = np.asarray(statistics, dtype=np.float64)
    generator = np.random.default_rng(seed)
    items = len(rows)
    draws = (np.bincount(generator.integers(items, size=items), minlength=items) for _ in range(samples))
    return [(times @ rows).tolist() for times in draws]
