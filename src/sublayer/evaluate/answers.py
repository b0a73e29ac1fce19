"""Scores of answers that stand in a text, and of saying that there is none.

exact    % of questions whose answer reads as one of the right ones                          Rajpurkar et al. 2016, 6.1
f1       the mean over questions of the F1 of words, against the nearest right answer        the same
span_f1  F1 of answers: one is right where it begins and ends as a right one does

For `exact` and `f1` answers are compared without case, punctuation, articles and superfluous blanks. Where there is no
answer, saying so is right and all else is wrong (Rajpurkar et al. 2018).
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sublayer.errors import ConfigError, DataError, nearest
from sublayer.evaluate.labels import f1
from sublayer.evaluate.metrics import Metric, score_of
from sublayer.evaluate.score import Measured, Score

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Found:
    """An answer as it reads and where it stands; empty and None where there is none."""

    text: str
    place: tuple[int, int] | None


def plain(answer: str) -> list[str]:
    """The words that count."""
    return ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split()


def word_f1(given: str, right: str) -> float:
    """2 · common / (words of both); 1 where both say nothing."""
    a, b = plain(given), plain(right)
    if not a or not b:
        return float(a == b)
    return 2 * sum((Counter(a) & Counter(b)).values()) / (len(a) + len(b))


def _exact(given: Sequence[Found], right: Sequence[Sequence[Found]]) -> Measured:
    rows = [(any(plain(a.text) == plain(b.text) for b in _any(bs)), 1) for a, bs in zip(given, right, strict=True)]
    return Measured(rows, _percent, len(rows), "answers:normalized")


def _word_f1(given: Sequence[Found], right: Sequence[Sequence[Found]]) -> Measured:
    rows = [(max(word_f1(a.text, b.text) for b in _any(bs)), 1) for a, bs in zip(given, right, strict=True)]
    return Measured(rows, _percent, len(rows), "answers:normalized|average:questions")


def _span_f1(given: Sequence[Found], right: Sequence[Sequence[Found]]) -> Measured:
    rows = []
    for a, bs in zip(given, right, strict=True):
        hit = a.place is not None and a.place in [b.place for b in bs]
        rows.append((int(hit), int(a.place is not None and not hit), int(bool(bs) and not hit)))
    return Measured(rows, lambda sums: float(f1(*np.asarray(sums))), sum(map(bool, right)), "spans:exact|average:micro")


def _any(right: Sequence[Found]) -> Sequence[Found]:
    return right or [Found("", None)]


def _percent(sums: Sequence[float]) -> float:
    return 100 * sums[0] / sums[1]


_MEASURES = {"exact": (_exact, "questions"), "f1": (_word_f1, "questions"), "span_f1": (_span_f1, "answers")}
ANSWER_METRICS = {name: Metric(name, True, unit, None) for name, (_, unit) in _MEASURES.items()}


def evaluate_answers(
    names: Sequence[str],
    given: Sequence[Found],
    right: Sequence[Sequence[Found]],
    *,
    bootstrap: int = 0,
    seed: int = 1,
) -> list[Score]:
    """A score a name, in that order; `right` lists every right answer, none where there is none. ConfigError for an
    unknown name, DataError where there is nothing to score."""
    if unknown := [name for name in names if name not in _MEASURES]:
        raise ConfigError(f"unknown metric {unknown[0]!r}. {nearest(unknown[0], _MEASURES)}")
    if not right:
        raise DataError("There is nothing to score: 0 questions.")
    if "span_f1" in names and not any(right):
        raise DataError("span_f1 divides by the answers, and none of these questions has one.")
    return [score_of(ANSWER_METRICS[name], _MEASURES[name][0](given, right), bootstrap, seed) for name in names]
