import pytest
import torch

from sublayer.generate import GNMT, Power

RULES = [rule(alpha) for rule in (GNMT, Power) for alpha in (-1.0, -0.3, 0.0, 0.6, 1.0, 2.5)]


def test_values_by_hand():
    assert GNMT(1)(-3.0, 4) == pytest.approx(-2.0)
    assert GNMT(0.6)(-3.0, 1) == -3.0
    assert GNMT()(-3.0, 7) == pytest.approx(-3 / 2**0.6)
    assert Power(1)(-3.0, 4) == -0.75
    assert Power(0.5)(-3.0, 4) == -1.5
    assert GNMT(0)(-3.0, 9) == Power(0)(-3.0, 9) == -3.0


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_tensors_and_floats_agree(rule):
    logp, n = torch.tensor([-3.0, -0.5]).double(), torch.tensor([4, 9]).double()
    expected = [rule(-3.0, 4), rule(-0.5, 9)]
    assert rule(logp, n).tolist() == pytest.approx(expected)
    assert rule.bound(logp, 2, n).tolist() == pytest.approx([rule.bound(-3.0, 2, 4), rule.bound(-0.5, 2, 9)])


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_bound_is_reached_and_never_passed(rule):
    for logp in (-5.0, -0.1, 0.0):
        for n, longest in ((1, 2), (1, 30), (12, 30)):
            bound = rule.bound(logp, n, longest)
            later = [rule(logp, end) for end in range(n + 1, longest + 1)]
            assert max(later) == bound
            assert all(rule(logp - 0.5, end) < bound for end in range(n + 1, longest + 1))
