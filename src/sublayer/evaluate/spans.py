"""Scores of tags, a word each, and of the spans that BIO tags mark.

accuracy  % of words whose tag is right
span_f1   F1 of spans: one is right where type, beginning and end are. The definition of CoNLL 2000 and 2003 and of
          seqeval's default: `B-` begins a span; so does an `I-` behind `O` or behind another type
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sublayer.errors import ConfigError, DataError, nearest
from sublayer.evaluate.labels import f1, per_class
from sublayer.evaluate.metrics import Metric, score_of
from sublayer.evaluate.score import Measured, Score

Tags = Sequence[str]


class Span(NamedTuple):
    """Words `start` up to, not including, `end`."""

    kind: str
    start: int
    end: int


def is_bio(tags: Sequence[str]) -> bool:
    """Whether these are tags of spans: O, B-… and I-…."""
    return any(tag.startswith("B-") for tag in tags) and all(tag == "O" or tag[:2] in ("B-", "I-") for tag in tags)


def spans(tags: Tags) -> list[Span]:
    """The spans of a sentence, in order."""
    return list(_spans(tags))


def _spans(tags: Tags) -> Iterator[Span]:
    kind, start = "", 0
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, own = tag.partition("-")
        if kind and (prefix != "I" or own != kind):
            yield Span(kind, start, i)
            kind = ""
        if prefix != "O" and not kind:
            kind, start = own, i


def _accuracy(given: Sequence[Tags], right: Sequence[Tags]) -> Measured:
    rows = [(sum(map(str.__eq__, a, b)), len(b)) for a, b in zip(given, right, strict=True)]
    return Measured(rows, lambda sums: 100 * sums[0] / max(sums[1], 1), sum(map(len, right)), "words:all")


def _span_f1(given: Sequence[Tags], right: Sequence[Tags]) -> Measured:
    rows = []
    for a, b in ((set(spans(a)), set(spans(b))) for a, b in zip(given, right, strict=True)):
        rows.append((len(a & b), len(a - b), len(b - a)))
    count = sum(len(spans(tags)) for tags in right)
    return Measured(rows, lambda sums: float(f1(*np.asarray(sums))), count, "spans:exact|average:micro")


def per_type(given: Sequence[Tags], right: Sequence[Tags]) -> list[Score]:
    """The F1 of each type of span, or of each tag where they mark no spans, with precision and recall."""
    if not is_bio([tag for tags in right for tag in tags]):
        return per_class([[tag] for tags in given for tag in tags], [[tag] for tags in right for tag in tags], "words")
    a, b = ({(i, span) for i, tags in enumerate(x) for span in spans(tags)} for x in (given, right))
    # Each span is an item: there with its type, or not there.
    every = sorted(a | b)
    first, second = ([[span.kind] if (i, span) in found else [] for i, span in every] for found in (a, b))
    return per_class(first, second, "spans")


_MEASURES = {"accuracy": (_accuracy, "words"), "span_f1": (_span_f1, "spans")}
TAG_METRICS = {name: Metric(name, True, unit, None) for name, (_, unit) in _MEASURES.items()}


def evaluate_tags(
    names: Sequence[str], given: Sequence[Tags], right: Sequence[Tags], *, bootstrap: int = 0, seed: int = 1
) -> list[Score]:
    """A score a name, in that order; intervals are over sentences. ConfigError for an unknown name, DataError where
    there is nothing to score."""
    if unknown := [name for name in names if name not in _MEASURES]:
        raise ConfigError(f"unknown metric {unknown[0]!r}. {nearest(unknown[0], _MEASURES)}")
    if not right:
        raise DataError("There is nothing to score: 0 sentences.")
    return [score_of(TAG_METRICS[name], _MEASURES[name][0](given, right), bootstrap, seed) for name in names]
