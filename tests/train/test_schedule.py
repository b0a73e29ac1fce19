import math

import pytest

from sublayer.train.schedule import SCHEDULES, Constant, Cosine, InverseSquareRoot, Linear, noam_peak

STEPS, WARMUP, PEAK = 100, 10, 3.0


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_warm_up_is_a_line_from_the_first_update_to_the_peak(name):
    schedule = SCHEDULES[name](PEAK, WARMUP, STEPS)
    assert [schedule(step) for step in range(1, WARMUP + 1)] == pytest.approx(
        [PEAK * step / WARMUP for step in range(1, WARMUP + 1)]
    )
    assert max(schedule(step) for step in range(1, STEPS + 1)) == pytest.approx(PEAK)


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_update_has_a_rate_above_zero_even_without_warm_up_and_of_one_step(name):
    for warmup, steps in ((0, 1), (0, 7), (1, 1), (7, 7), (20, 7)):
        rates = [SCHEDULES[name](PEAK, warmup, steps)(step) for step in range(1, steps + 1)]
        assert all(0 < rate <= PEAK for rate in rates), (warmup, steps, rates)


@pytest.mark.parametrize("name", ["cosine", "linear"])
def test_these_come_down_to_zero_just_after_the_last_update(name):
    schedule = SCHEDULES[name](PEAK, WARMUP, STEPS)
    rates = [schedule(step) for step in range(WARMUP, STEPS + 2)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(0, abs=1e-12) and rates[-2] > 0
    assert schedule(5 * STEPS) == pytest.approx(0, abs=1e-12)  # never up again


def test_worked_values():
    assert Constant(PEAK, WARMUP, STEPS)(77) == PEAK
    assert Linear(1.0, 0, 3)(2) == pytest.approx(0.5)
    assert Cosine(1.0, 0, 3)(1) == pytest.approx(0.5 * (1 + math.cos(math.pi / 4)))
    assert InverseSquareRoot(1.0, 4, 100)(16) == pytest.approx(0.5)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_step_may_lie_between_two(name):
    schedule = SCHEDULES[name](PEAK, WARMUP, STEPS)
    assert sorted((schedule(50), schedule(50.5), schedule(51)), reverse=True)[1] == schedule(50.5)


def test_the_original_formula():
    d_model, warmup = 512, 4000
    schedule = InverseSquareRoot(noam_peak(d_model, warmup), warmup, 0)
    for step in (1, 2, 3999, 4000, 4001, 100_000):
        assert schedule(step) == pytest.approx(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
