from functools import cache

import jiwer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sublayer.evaluate import edit_distance, evaluate_texts

WORD = st.text("abc", min_size=1, max_size=3)
SENTENCE = st.lists(WORD, min_size=1, max_size=6).map(" ".join)


def score(name, hypotheses, references):
    (found,) = evaluate_texts([name], hypotheses, references)
    return found.value


def by_definition(a, b):
    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    return distance(len(a), len(b))


@settings(deadline=None)
@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_distance_equals_its_definition(a, b):
    assert edit_distance(a, b) == by_definition(a, b)


@settings(deadline=None)
@given(*[st.lists(st.integers(0, 3), max_size=8)] * 3)
def test_distance_is_a_metric(a, b, c):
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, b) == edit_distance(b, a)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


def test_known_distances():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("K AE T".split(), "K AA T S".split()) == 2
    assert edit_distance("", "abc") == edit_distance("abc", "") == 3


@settings(deadline=None)
@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=5))
def test_word_and_character_error_rates_equal_jiwer(pairs):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    accepted = [[reference] for reference in references]
    assert score("wer", hypotheses, accepted) == pytest.approx(100 * jiwer.wer(references, hypotheses))
    assert score("cer", hypotheses, accepted) == pytest.approx(100 * jiwer.cer(references, hypotheses))


# The nearest of "K AE T" is one edit away in two references, of 4 and of 3 phonemes: the shorter counts.
WORDS = ["K AE T", "D AO G", "AH"]
PRONUNCIATIONS = [["K AE T S", "K AA T"], ["D AA G", "D AO G"], ["B IY"]]


def test_worked_phoneme_error_rate_and_exact_matches():
    assert score("per", WORDS, PRONUNCIATIONS) == pytest.approx(100 * (1 + 0 + 2) / (3 + 3 + 2))
    assert score("exact", WORDS, PRONUNCIATIONS) == pytest.approx(100 / 3)
    assert score("sequence_error", WORDS, PRONUNCIATIONS) == pytest.approx(200 / 3)


@pytest.mark.parametrize("name", ["per", "exact", "sequence_error", "cer", "edit_distance"])
def test_the_order_of_references_changes_nothing(name):
    turned = [accepted[::-1] for accepted in PRONUNCIATIONS]
    assert score(name, WORDS, PRONUNCIATIONS) == score(name, WORDS, turned)


def test_edit_distance_is_characters_an_item():
    assert score("edit_distance", ["geht", "ging"], [["gehst"], ["lief", "gingen"]]) == (1 + 2) / 2


def test_exact_looks_at_everything_but_outer_blanks():
    assert score("exact", ["a b ", "A b", "a  b"], [["a b"]] * 3) == pytest.approx(100 / 3)


def test_error_rates_can_pass_one_hundred():
    assert score("wer", ["a b c"], [["x"]]) == 300
