"""Scores of guessed tokens.

accuracy           % of the blanks whose likeliest token is the right one; of spans, % of those likeliest in every token
loss, perplexity   nats a blank, of spans a token of what is written, and exp of it
pseudo_perplexity  exp of the mean -log p of each token of a text, seen from all the others    Salazar et al. 2020, 2
"""

from collections.abc import Sequence
from typing import NamedTuple

from sublayer.evaluate.likelihood import perplexity, token_mean
from sublayer.evaluate.metrics import LOSS, PERPLEXITY, Metric, score_of
from sublayer.evaluate.score import Measured, Score

FILL_METRICS = {
    m.name: m
    for m in (
        Metric("accuracy", True, "tokens", None),
        LOSS,
        PERPLEXITY,
        Metric("pseudo_perplexity", False, "tokens", None),
    )
}


class Blanks(NamedTuple):
    """Those of one text: how many were guessed right, how many there are, Σ -log p of the right tokens."""

    right: int
    asked: int
    nll: float


def of_blanks(rows: Sequence[Blanks], signature: str, bootstrap: int = 0, seed: int = 1) -> dict[str, Score]:
    """`accuracy`, with an interval over texts, `loss` and `perplexity`."""
    count, nll = sum(row.asked for row in rows), sum(row.nll for row in rows)
    hits = [(row.right, row.asked) for row in rows]
    measured = Measured(hits, lambda sums: 100 * sums[0] / max(sums[1], 1), count, signature)
    return {
        "accuracy": score_of(FILL_METRICS["accuracy"], measured, bootstrap, seed),
        "loss": Score("loss", token_mean(nll, count), count, "tokens", False, f"loss|{signature}"),
        "perplexity": Score("perplexity", perplexity(nll, count), count, "tokens", False, f"perplexity|{signature}"),
    }


class Spans(NamedTuple):
    """Those of one text: how many were right in every token, how many there are, Σ -log p of the tokens, and how many
    tokens were written."""

    right: int
    asked: int
    nll: float
    tokens: int


def of_spans(rows: Sequence[Spans], signature: str, bootstrap: int = 0, seed: int = 1) -> dict[str, Score]:
    """`accuracy` of spans, with an interval over texts, `loss` and `perplexity` of tokens."""
    spans, nll, count = (sum(each) for each in zip(*((row.asked, row.nll, row.tokens) for row in rows), strict=True))
    hits = [(row.right, row.asked) for row in rows]
    measured = Measured(hits, lambda sums: 100 * sums[0] / max(sums[1], 1), spans, signature)
    return {
        "accuracy": score_of(Metric("accuracy", True, "spans", None), measured, bootstrap, seed),
        "loss": Score("loss", token_mean(nll, count), count, "tokens", False, f"loss|{signature}"),
        "perplexity": Score("perplexity", perplexity(nll, count), count, "tokens", False, f"perplexity|{signature}"),
    }


def pseudo(rows: Sequence[Blanks], signature: str) -> Score:
    """`pseudo_perplexity` of texts with one blank a time."""
    count, nll = sum(row.asked for row in rows), sum(row.nll for row in rows)
    value = perplexity(nll, count)
    return Score("pseudo_perplexity", value, count, "tokens", False, f"pseudo_perplexity|{signature}")
