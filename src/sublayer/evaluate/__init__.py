"""Scores with their counts, signatures and intervals."""

from sublayer.evaluate.edit import edit_distance
from sublayer.evaluate.likelihood import perplexity, token_mean
from sublayer.evaluate.metrics import METRICS, Metric, direction, evaluate_texts
from sublayer.evaluate.score import Score

__all__ = [
    "METRICS",
    "Metric",
    "Score",
    "direction",
    "edit_distance",
    "evaluate_texts",
    "perplexity",
    "token_mean",
]
