import pytest

from sublayer.errors import ConfigError, DataError
from sublayer.evaluate import evaluate_labels, per_class

ALL = ["accuracy", "micro_f1", "macro_f1"]


def values(given, right):
    return [score.value for score in evaluate_labels(ALL, given, right)]


def test_one_label_a_text_by_hand():
    right = [["a"], ["a"], ["b"], ["c"]]
    given = [["a"], ["b"], ["b"], ["b"]]
    # a: tp 1, fn 1 -> F1 2/3.  b: tp 1, fp 2 -> 2/4.  c: fn 1 -> 0
    assert values(given, right) == pytest.approx([50, 50, 100 * (2 / 3 + 1 / 2 + 0) / 3])
    found = per_class(given, right)
    assert [(s.name, s.count, round(s.value, 4)) for s in found] == [
        ("f1:a", 2, 66.6667),
        ("f1:b", 1, 50.0),
        ("f1:c", 1, 0.0),
    ]
    assert found[1].signature == "precision:33.33|recall:100.00"


def test_several_labels_a_text_by_hand():
    right = [["a", "b"], [], ["c"], ["b"]]
    given = [["b", "a"], ["a"], ["c", "b"], []]
    # all right: the first alone.  tp 3, fp 2, fn 1 -> 6/9.  a: 2/3, b: tp 1, fp 1, fn 1 -> 1/2, c: 1
    assert values(given, right) == pytest.approx([25, 100 * 6 / 9, 100 * (2 / 3 + 1 / 2 + 1) / 3])


def test_order_and_labels_that_stand_nowhere_change_nothing():
    right, given = [["a"], ["b"], ["a"]], [["a"], ["a"], ["a"]]
    assert values(given[::-1], right[::-1]) == values(given, right)
    assert values([["a"]], [["a"]]) == [100, 100, 100]


def test_intervals_hold_the_value_and_counts_are_texts():
    right = [["a"], ["b"]] * 20
    given = [["a"], ["a"]] * 20
    for score in evaluate_labels(ALL, given, right, bootstrap=200):
        low, high = score.interval
        assert low <= score.value <= high and low < high
        assert (score.count, score.unit, score.higher_is_better) == (40, "texts", True)


def test_what_cannot_be_scored_is_told():
    with pytest.raises(ConfigError, match="unknown metric 'acuracy'. Did you mean 'accuracy'"):
        evaluate_labels(["acuracy"], [["a"]], [["a"]])
    with pytest.raises(DataError, match="nothing to score: 0 texts"):
        evaluate_labels(["accuracy"], [], [])
