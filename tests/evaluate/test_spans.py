import pytest

from sublayer.errors import ConfigError, DataError
from sublayer.evaluate import evaluate_tags, is_bio, per_type, spans


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("B-X I-X O B-Y", [("X", 0, 2), ("Y", 3, 4)]),
        ("B-X B-X", [("X", 0, 1), ("X", 1, 2)]),
        ("I-X I-X I-Y", [("X", 0, 2), ("Y", 2, 3)]),  # an I- behind O or another type begins a span
        ("B-X I-Y I-Y", [("X", 0, 1), ("Y", 1, 3)]),
        ("O O", []),
        ("", []),
        ("O I-a-b B-a-b", [("a-b", 1, 2), ("a-b", 2, 3)]),  # a type may hold a hyphen
    ],
)
def test_spans_of_tags(tags, found):
    assert spans(tags.split()) == found


def test_which_tags_mark_spans():
    assert is_bio(["O", "B-X", "I-X"]) and is_bio(["B-X"])
    assert not is_bio(["NOUN", "O"]) and not is_bio(["O"]) and not is_bio(["B-X", "NOUN"])


# The example of seqeval's documentation: micro F1 0.50, of MISC 0.00 and of PER 1.00.
RIGHT = [["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
GIVEN = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]


def test_scores_by_hand():
    accuracy, span_f1 = evaluate_tags(["accuracy", "span_f1"], GIVEN, RIGHT)
    assert (accuracy.value, accuracy.count, accuracy.unit) == (80, 10, "words")
    assert (span_f1.value, span_f1.count, span_f1.unit) == (50, 2, "spans")
    assert [(s.name, s.value, s.count, s.unit) for s in per_type(GIVEN, RIGHT)] == [
        ("f1:MISC", 0, 1, "spans"),
        ("f1:PER", 100, 1, "spans"),
    ]
    # 2 spans of 3 are right, of 4 that there are: precision 2/3, recall 1/2, F1 4/7
    right, given = [["B-X", "B-X", "B-Y", "B-Y"]], [["B-X", "B-X", "O", "B-X"]]
    assert evaluate_tags(["span_f1"], given, right)[0].value == pytest.approx(100 * 4 / 7)


def test_tags_that_mark_no_spans_are_told_one_by_one():
    found = per_type([["N", "V"], ["N"]], [["N", "N"], ["N"]])
    assert [(s.name, round(s.value, 2), s.count, s.unit) for s in found] == [
        ("f1:N", 80.0, 3, "words"),
        ("f1:V", 0.0, 0, "words"),
    ]


def test_intervals_and_what_cannot_be_scored():
    for score in evaluate_tags(["accuracy", "span_f1"], GIVEN * 10, RIGHT * 10, bootstrap=100):
        assert score.interval[0] <= score.value <= score.interval[1]
    with pytest.raises(ConfigError, match="unknown metric 'acuracy'. Did you mean 'accuracy'"):
        evaluate_tags(["acuracy"], GIVEN, RIGHT)
    with pytest.raises(DataError, match="0 sentences"):
        evaluate_tags(["accuracy"], [], [])
    with pytest.raises(DataError, match="span_f1 divides by the references' spans, and they hold none"):
        evaluate_tags(["span_f1"], [["O"]], [["O"]])
