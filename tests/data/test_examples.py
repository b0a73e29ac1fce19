from sublayer.data import Pair, Pairs, group


def test_pairs_are_a_sequence_that_can_sum_itself_up():
    pairs = Pairs("x.tsv", [Pair("a", "b", 1), Pair("c", "d", 3)], skipped=[(2, "empty target")])
    assert len(pairs) == 2
    assert [pair.line for pair in pairs] == [1, 3]
    assert pairs[-1] == Pair("c", "d", 3)
    assert pairs.summary() == "x.tsv: 2 pairs, 1 left out"


def test_group_keeps_first_occurrences_in_order_and_repeats_once():
    lines = [("b", "2"), ("a", "1"), ("b", "1"), ("b", "2"), ("a", "0")]
    pairs = [Pair(source, target, line) for line, (source, target) in enumerate(lines, 1)]
    assert group(pairs) == [("b", ["2", "1"]), ("a", ["1", "0"])]
