import pytest

from sublayer.errors import ConfigError, DataError
from sublayer.evaluate import evaluate_answers
from sublayer.evaluate.answers import Found, plain, word_f1


def found(text, start=0):
    return Found(text, (start, start + len(text)) if text else None)


def values(given, right, *names):
    return [score.value for score in evaluate_answers(names, given, right)]


def test_case_punctuation_articles_and_blanks_do_not_count():
    assert plain("The  U.S. army, a LOT") == ["us", "army", "lot"]
    assert values([found("the cat!")], [[found("Cat")]], "exact", "f1") == [100, 100]


def test_worked_word_f1():
    assert word_f1("cat sat down", "the cat sat") == pytest.approx(0.8)  # 2 · 2 / (3 + 2)
    assert word_f1("to be or not to be", "to be to be to") == pytest.approx(2 * 4 / 11)
    assert word_f1("dog", "cat") == 0 == word_f1("", "cat") == word_f1("cat", "")
    assert word_f1("", "") == word_f1("the", "a") == 1


def test_the_nearest_of_several_right_answers_counts():
    right = [[found("in 1912"), found("1912", 3)]]
    assert values([found("1912", 3)], right, "exact", "f1", "span_f1") == [100, 100, 100]
    assert values([found("year 1912")], right, "f1") == [pytest.approx(100 * 2 / 3)]


def test_no_answer_is_right_where_there_is_none():
    given = [found(""), found("x"), found(""), found("y", 2)]
    right = [[], [], [found("z")], [found("y", 2)]]
    exact, f1, span = values(given, right, "exact", "f1", "span_f1")
    assert exact == f1 == 50
    assert span == pytest.approx(50)  # one hit, one too many, one missed: 2 / (2 + 1 + 1)


def test_a_wrong_place_is_both_too_many_and_missed():
    assert values([found("y", 0)], [[found("y", 2)]], "exact", "span_f1") == [100, 0]


def test_what_cannot_be_scored():
    with pytest.raises(ConfigError, match="unknown metric 'exakt'. Did you mean 'exact'?"):
        evaluate_answers(["exakt"], [found("")], [[]])
    with pytest.raises(DataError, match="none of these questions has one"):
        evaluate_answers(["span_f1"], [found("")], [[]])
    with pytest.raises(DataError, match="0 questions"):
        evaluate_answers(["exact"], [], [])
