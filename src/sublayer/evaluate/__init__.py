"""Scores with their counts, signatures and intervals."""

from sublayer.evaluate.edit import edit_distance
from sublayer.evaluate.labels import LABEL_METRICS, evaluate_labels, per_class
from sublayer.evaluate.likelihood import perplexity, token_mean
from sublayer.evaluate.metrics import LOSS, METRICS, Metric, direction, evaluate_texts
from sublayer.evaluate.score import Score

__all__ = [
    "LABEL_METRICS",
    "LOSS",
    "METRICS",
    "Metric",
    "Score",
    "direction",
    "edit_distance",
    "evaluate_labels",
    "evaluate_texts",
    "per_class",
    "perplexity",
    "token_mean",
]
