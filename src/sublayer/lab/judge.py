"""From numbers over seeds to a verdict."""

from collections.abc import Sequence
from math import isfinite, sqrt
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from sublayer.lab.claim import Claim, Measured, Prediction

Outcome = Literal["met", "refuted", "open"]
Word = Literal["holds", "holds with limits", "does not hold", "undecided"]

LEAST_SEEDS = 3
# 97.5 % points of Student's t for 1, 2, … degrees of freedom; later ones are taken as the last, a little too wide.
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)


class Estimate(NamedTuple):
    """A mean over seeds with its 95 % interval."""

    mean: float
    low: float
    high: float
    seeds: int


class Finding(NamedTuple):
    prediction: Prediction
    estimate: Estimate
    outcome: Outcome


class Verdict(NamedTuple):
    """`effect` is the first prediction's finding: what the claim is about."""

    word: Word
    findings: tuple[Finding, ...]

    @property
    def effect(self) -> Finding:
        return self.findings[0]


def estimate(values: Sequence[float]) -> Estimate:
    """Mean ± t · s / √n. Of one value the interval is everything: it says nothing about other seeds."""
    n, mean = len(values), fmean(values)
    if n == 1 or not all(map(isfinite, values)):
        return Estimate(mean, float("-inf"), float("inf"), n)
    reach = STUDENT[min(n - 1, len(STUDENT)) - 1] * stdev(values) / sqrt(n)
    return Estimate(mean, mean - reach, mean + reach, n)


def outcome(prediction: Prediction, found: Estimate) -> Outcome:
    """Met where the whole interval lies in the predicted range, refuted where none of it does."""
    if prediction.least <= found.low and found.high <= prediction.most:
        return "met"
    return "refuted" if found.high < prediction.least or found.low > prediction.most else "open"


def judge(claim: Claim, results: Sequence[Measured]) -> Verdict:
    """The claim's verdict over seeds; fewer than three decide nothing."""
    findings = tuple(_find(prediction, results) for prediction in claim.predictions)
    if len(results) < LEAST_SEEDS:
        return Verdict("undecided", findings)
    core = {finding.outcome for finding in findings if not finding.prediction.limit}
    limits = {finding.outcome for finding in findings if finding.prediction.limit}
    if "refuted" in core:
        return Verdict("does not hold", findings)
    if "open" in core:
        return Verdict("undecided", findings)
    return Verdict("holds" if limits <= {"met"} else "holds with limits", findings)


def _find(prediction: Prediction, results: Sequence[Measured]) -> Finding:
    found = estimate([measured.numbers[prediction.number] for measured in results])
    return Finding(prediction, found, outcome(prediction, found))
