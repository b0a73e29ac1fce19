"""Scores with their counts, signatures and intervals."""

from sublayer.evaluate.answers import ANSWER_METRICS, evaluate_answers
from sublayer.evaluate.blanks import FILL_METRICS
from sublayer.evaluate.edit import edit_distance
from sublayer.evaluate.labels import LABEL_METRICS, evaluate_labels, per_class
from sublayer.evaluate.likelihood import bits_per_character, perplexity, token_mean
from sublayer.evaluate.metrics import LOSS, METRICS, TEXT_METRICS, Metric, direction, evaluate_texts
from sublayer.evaluate.score import Score
from sublayer.evaluate.similarity import SIMILARITY_METRICS, evaluate_retrieval, evaluate_similarity
from sublayer.evaluate.spans import TAG_METRICS, Span, evaluate_tags, is_bio, per_type, spans

__all__ = [
    "ANSWER_METRICS",
    "FILL_METRICS",
    "LABEL_METRICS",
    "LOSS",
    "METRICS",
    "Metric",
    "SIMILARITY_METRICS",
    "Score",
    "Span",
    "TAG_METRICS",
    "TEXT_METRICS",
    "bits_per_character",
    "direction",
    "edit_distance",
    "evaluate_answers",
    "evaluate_labels",
    "evaluate_retrieval",
    "evaluate_similarity",
    "evaluate_tags",
    "evaluate_texts",
    "is_bio",
    "per_class",
    "per_type",
    "perplexity",
    "spans",
    "token_mean",
]
