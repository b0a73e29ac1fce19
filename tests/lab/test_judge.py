"""Verdicts on made-up results, both ways."""

import math

import pytest
import scipy.stats

from sublayer.lab.claim import Measured, Prediction, Text
from sublayer.lab.claims import CLAIMS
from sublayer.lab.judge import STUDENT, Estimate, estimate, judge, outcome

claims = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)


def inside(prediction):
    """A number well inside the range of a prediction."""
    least, most = prediction.least, prediction.most
    if math.isinf(least):
        return most - abs(most)
    return least + abs(least) + 1 if math.isinf(most) else (least + most) / 2


def outside(prediction):
    least, most = prediction.least, prediction.most
    return most + 1 if math.isinf(least) else least - 1


def made_up(claim, value, *, spread=0.0, seeds=5):
    return [
        Measured({p.number: value(p) + spread * (-1) ** seed for p in claim.predictions}, {}) for seed in range(seeds)
    ]


@claims
def test_a_claim_holds_where_all_lies_in_its_ranges(claim):
    assert judge(claim, made_up(claim, inside)).word == "holds"


@claims
def test_a_claim_does_not_hold_where_a_core_prediction_fails(claim):
    for failing in [p for p in claim.predictions if not p.limit]:
        results = made_up(claim, lambda p, failing=failing: outside(p) if p is failing else inside(p))
        assert judge(claim, results).word == "does not hold"


@claims
def test_a_limit_only_limits(claim):
    for failing in [p for p in claim.predictions if p.limit]:
        results = made_up(claim, lambda p, failing=failing: outside(p) if p is failing else inside(p))
        assert judge(claim, results).word == "holds with limits"


@claims
def test_what_the_seeds_cannot_tell_is_undecided(claim):
    assert judge(claim, made_up(claim, inside, spread=1e9)).word == "undecided"
    assert judge(claim, made_up(claim, inside, seeds=2)).word == "undecided"
    assert judge(claim, made_up(claim, outside, seeds=1)).word == "undecided"


def test_an_interval_is_students():
    found = estimate([1.0, 2.0, 4.0])
    low, high = scipy.stats.t.interval(0.95, 2, loc=7 / 3, scale=scipy.stats.sem([1.0, 2.0, 4.0]))
    assert found == pytest.approx((7 / 3, low, high, 3), rel=1e-3)
    assert STUDENT == pytest.approx([scipy.stats.t.ppf(0.975, n) for n in range(1, 21)], abs=1e-3)


def test_one_seed_and_a_number_that_is_none_say_nothing():
    for values in ([1.0], [1.0, 1.0, math.inf], [1.0, math.nan, 1.0]):
        assert outcome(Prediction("", Text("", ""), least=0.0), estimate(values)) == "open"


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(1, 2, "met"), (0, 1, "open"), (-1, 0.4, "refuted"), (2.4, 2.6, "open"), (3, 4, "refuted")],
)
def test_an_interval_lies_in_a_range_or_beside_it_or_across(low, high, word):
    assert outcome(Prediction("", Text("", ""), 0.5, 2.5), Estimate((low + high) / 2, low, high, 5)) == word
