import pytest

from sublayer.data import read_pairs
from sublayer.data.keep import Worth


@pytest.mark.parametrize(
    ("rules", "pair", "reason"),
    [
        (dict(longest=3), ("abc", "abcd"), "4 characters, and 3 are the most"),
        (dict(longest=4), ("abc", "abcd"), None),
        (dict(ratio=2.0), ("ab", "abcde"), "5 characters beside 2, more than 2 times as many"),
        (dict(ratio=2.5), ("abcde", "ab"), None),
        (dict(scripts=("LATIN", "CJK")), ("one cat", "一只猫"), None),
        (dict(scripts=("LATIN", "CJK")), ("one cat", "一只 cats"), "the target is not written in CJK"),
        (dict(scripts=("CYRILLIC", "LATIN")), ("one", "1, 2"), "the source is not written in CYRILLIC"),
        (dict(scripts=("GEORGIAN", "LATIN")), ("12 + 3", "§"), None),  # no letters at all
        ({}, ("a", "b" * 1000), None),
    ],
)
def test_rules(rules, pair, reason):
    assert Worth(**rules)()(*pair) == reason


def test_a_judge_remembers_and_the_next_one_begins_anew():
    worth = Worth(repeated=True)
    for _ in range(2):
        judge = worth()
        assert [judge("a", "b"), judge("b", "a"), judge("a", "b")] == [None, None, "the same pair came before"]


def test_what_is_left_out_is_listed(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\nabcdef\tb\na\tb\n\tb\n", encoding="utf-8")
    pairs = read_pairs(path, keep=Worth(longest=5, repeated=True))
    assert [pair.line for pair in pairs] == [1]
    assert pairs.skipped == [
        (2, "6 characters, and 5 are the most"),
        (3, "the same pair came before"),
        (4, "empty source"),
    ]


def test_pairs_that_are_not_held_are_the_same_each_time(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\n\tb\nc\td\na\tb\ne\tf\n", encoding="utf-8")
    held = read_pairs(path, keep=Worth(repeated=True), prefix="to de: ")
    again = read_pairs(path, keep=Worth(repeated=True), prefix="to de: ", store=tmp_path)
    assert held.items == list(again) == list(again.items) == [again[i] for i in range(3)]
    assert held[0].source == "to de: a" and again.items[1:] == held.items[1:]
    assert (len(again), again.skipped, again.summary()) == (3, held.skipped, held.summary())
    with pytest.raises(IndexError):
        again[3]
