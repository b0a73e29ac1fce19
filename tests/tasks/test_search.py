"""The search settings at work on a task that turns letters round."""

import pytest
from pydantic import ValidationError
from tests.runs import command, reverse_run

from sublayer.export.ctranslate2 import CTranslate2
from sublayer.tasks.search import Search
from sublayer.tasks.searching import NOTHING

LINES = ["abc", "de", "ecab", "b", "dddd"]


def answers(task, lines=LINES, **settings):
    return [[a.text for a in found] for found in task.predict(lines, search=Search(**settings))]


def first(task, line, **settings):
    return answers(task, [line], **settings)[0][0]


def test_it_has_learned(task):
    assert answers(task) == [["cba"], ["ed"], ["bace"], ["b"], ["dddd"]]


@pytest.mark.parametrize("beam", [1, 4])
def test_phrases_that_come_and_phrases_that_do_not(task, beam):
    assert "ba" not in first(task, "abc", forbid=["ba"], beam=beam)
    assert first(task, "de", forbid=["ba"], beam=beam) == "ed"
    assert "aa" in first(task, "abc", require=["aa"], beam=beam)
    both = first(task, "abc", require=["dd", "e"], forbid=["c"], beam=beam)
    assert "dd" in both and "e" in both and "c" not in both
    assert first(task, "abc", prefix="cb", beam=beam) == "cba"
    assert first(task, "abc", prefix="dd", beam=beam).startswith("dd")


def test_least_lengths(task):
    assert len(first(task, "de", min_length=6)) >= 5  # and EOS
    assert len(first(task, "dec", min_ratio=2)) >= 7  # twice 3 letters and EOS
    assert first(task, "de", min_length=3) == "ed"


def test_no_repeats(task):
    assert "dd" not in first(task, "dddd", no_repeat=1)
    twice = first(task, "dddd", no_repeat=2)
    assert "ddd" not in twice  # which would be dd twice
    [[plain]] = task.predict(["dd"])
    [[penalised]] = task.predict(["dd"], search=Search(repetition_penalty=3.0))
    a, b, end = plain.token_logps
    assert penalised.token_logps == pytest.approx((a, 3 * b, end))


def test_an_answer_ends_before_a_stop_string(task):
    [[answer]] = task.predict(["ecab"], search=Search(stop_strings=["ac", "x"]))
    assert answer.text == "b" and answer.finished
    assert answer.tokens == ("b", "a", "c", "</s>")
    assert first(task, "ecab", stop_strings=["b"]) == ""


def test_what_is_drawn_depends_on_the_seed_and_the_line_alone(task):
    drawn = dict(temperature=2.0, nbest=3)
    expected = answers(task, **drawn)
    assert answers(task, LINES[::-1], **drawn) == expected[::-1]
    assert [answers(task, [line], **drawn)[0] for line in LINES] == expected
    assert answers(task, seed=2, **drawn) != expected
    assert {len(found) for found in expected} == {3}
    assert answers(task, temperature=2.0, top_k=1) == answers(task)  # the likeliest is all there is
    assert answers(task, temperature=1.0, min_p=1.0) == answers(task) == answers(task, temperature=1.0, top_p=1e-9)


def test_groups_give_answers_that_differ(task):
    found = answers(task, beam=2, groups=3, nbest=3, diversity=5.0)
    assert all(len(texts) == len(set(texts)) for texts in found) and max(map(len, found)) > 1
    assert [found[:1] for found in answers(task, beam=2, groups=2)] == answers(task, beam=2)


def test_where_nothing_may_come_the_answer_is_empty(task):
    every = ["a", "b", "c", "d", "e"]
    for beam in (1, 3):
        [[answer]] = task.predict(["abc"], search=Search(forbid=every, min_length=3, beam=beam))
        assert answer.text == "" and not answer.finished
    assert not NOTHING.finished


def test_what_does_not_go_together_is_told_at_once():
    with pytest.raises(ValidationError) as error:
        Search(top_k=3, min_p=0.1, nbest=2, forbid=["a", ""])
    for problem in (
        "top_k, min_p choose what is drawn from: set a temperature above 0, for example 1",
        "nbest=2 is more than beam=1 can give: widen the beam",
        "an empty phrase stands in every text: leave it out",
    ):
        assert problem in str(error.value)
    with pytest.raises(ValidationError, match="drawing .temperature above 0. has no beam: leave beam and groups at 1"):
        Search(temperature=1, beam=2)
    with pytest.raises(ValidationError, match="nbest=3 is more than groups=2 can give: raise it"):
        Search(groups=2, beam=4, nbest=3)


def test_engines_say_what_they_leave_to_the_model(task):
    with pytest.raises(ValueError, match="searches greedily or with a beam. temperature, forbid: take engine native"):
        CTranslate2.find(None, task, [[4]], Search(temperature=1, forbid=["a"]))


def test_on_the_command_line(task):
    run, stdin = reverse_run(), b"abc\nde\n"
    said = command("predict", run, "--set", "search.forbid=[c]", "--set", "search.min_length=4", stdin=stdin)
    lines = said.out.splitlines()
    assert "c" not in lines[0] and len(lines[0]) >= 3
    said = command("predict", run, "--set", "train.steps=4", stdin=stdin)
    assert said.err == (
        "sublayer: --set 'train.steps=4': only the search can be changed here, for example search.min_length=5.\n"
    )
    said = command("predict", run, "--set", "search.min_len=4", stdin=stdin)
    assert said.code == 2 and "search.min_len: there is no such key. Did you mean" in said.err
    said = command("predict", run, "--engine", "auto", "--set", "search.no_repeat=3", stdin=stdin)
    assert said.err == "engine: native\n"
