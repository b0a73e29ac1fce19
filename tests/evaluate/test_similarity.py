import numpy as np
import pytest
import scipy.stats

from sublayer.errors import DataError
from sublayer.evaluate import evaluate_retrieval, evaluate_similarity
from sublayer.evaluate.similarity import pearson, ranks, spearman


def test_ranks_with_ties():
    assert ranks([10, 30, 20, 20]).tolist() == [1, 4, 2.5, 2.5]


def test_worked_correlations():
    assert spearman([1, 2, 3, 4], [10, 20, 40, 30]) == pytest.approx(0.8)  # 1 - 6 · 2 / (4 · 15)
    assert pearson([1, 2, 3], [1, 2, 4]) == pytest.approx(3 / np.sqrt(2 * 14 / 3))
    assert pearson([1, 2], [5, 3]) == pytest.approx(-1)


def test_they_are_scipys():
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=200), draw.integers(6, size=200)
    assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic)
    assert pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b).statistic)


def test_scores_tell_what_they_are_of():
    score = evaluate_similarity("spearman", [0.1, 0.9, 0.4, 0.5], [0, 5, 2, 2], bootstrap=50)
    assert score.value == pytest.approx(100 * spearman([0.1, 0.9, 0.4, 0.5], [0, 5, 2, 2]))
    assert (score.count, score.unit, score.higher_is_better) == (4, "pairs", True)
    assert score.interval[0] <= score.value <= score.interval[1]
    found = evaluate_retrieval([True, False, True, True], bootstrap=50)
    assert (found.value, found.count) == (75, 4) and found.interval[0] < 75 < found.interval[1]


def test_one_score_for_all_correlates_with_nothing():
    with pytest.raises(DataError, match="different scores, and of these 2 pairs all have the same"):
        evaluate_similarity("pearson", [0.1, 0.2], [3, 3])
