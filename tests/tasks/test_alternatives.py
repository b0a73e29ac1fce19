"""What else could stand behind the beginning of an answer."""

import json
import math

import pytest
from tests.runs import command, reverse_run

from sublayer.data import Pair
from sublayer.tasks.ensemble import Ensemble
from sublayer.tasks.search import Search


@pytest.mark.parametrize("prefix", ["", "e", "edc"])
def test_they_are_the_likeliest_tokens_with_teacher_forced_probabilities(task, prefix):
    found = task.alternatives("cde", prefix, 7)
    assert [a.token for a in found][0] == ("edc" + "\n")[len(prefix)].replace("\n", "</s>")
    assert {a.token for a in found} == {*"abcde", "</s>"}  # all that can come
    assert [a.probability for a in found] == sorted((a.probability for a in found), reverse=True)
    for a in found:
        written = prefix + ("" if a.token == "</s>" else a.token)
        [scored] = task.score([Pair("cde", written, 1)])
        assert a.probability == pytest.approx(math.exp(scored.token_logps[len(prefix)]), abs=1e-5)
        assert a.answer.text.startswith(written) and a.answer.finished
        assert a.answer.tokens[: len(written)] == tuple(written)
        assert (a.answer.text == written) or a.token != "</s>"


def test_each_is_continued_as_the_search_would(task):
    found = task.alternatives("abc", "c", 3, search=Search(beam=3, prefix="dd"))
    for a in found:
        if a.token != "</s>":
            [[answer]] = task.predict(["abc"], search=Search(beam=3, prefix="c" + a.token))
            assert (a.answer.text, a.answer.tokens) == (answer.text, answer.tokens)
            assert a.answer.score == pytest.approx(answer.score, abs=1e-5)
    [best] = task.alternatives("abc", n=1)
    [[answer]] = task.predict(["abc"])
    assert best.answer.text == answer.text and best.probability == pytest.approx(
        math.exp(answer.token_logps[0]), abs=1e-5
    )


def test_several_models_give_the_mean(task):
    alone, together = task.alternatives("abc", "c", 2), Ensemble([task, task]).alternatives("abc", "c", 2)
    assert [a.token for a in alone] == [a.token for a in together]
    assert [a.probability for a in alone] == pytest.approx([a.probability for a in together], abs=1e-6)


def test_an_empty_text_has_none(task):
    assert task.alternatives(" ") == []


def test_on_the_command_line(task):
    run = reverse_run()
    said = command("predict", run, "--alternatives", 2, "--set", "search.prefix=c", stdin=b"abc\n\ncb\n")
    expected = [(n, a) for n, line in ((1, "abc"), (3, "cb")) for a in task.for_inference().alternatives(line, "c", 2)]
    assert said.out.splitlines() == [f"{n}\t{a.probability:.6f}\t{a.token}\t{a.answer.text}" for n, a in expected]
    assert said.out.startswith("1\t0.9") and said.out.split("\t")[2:4] == ["b", "cba\n1"]
    said = command("predict", run, "--alternatives", 1, "--json", stdin=b"abc\n")
    [record] = json.loads(said.out)["alternatives"]
    assert record["token"] == "c" and record["answer"]["text"] == "cba" and "alignment" not in record["answer"]
    said = command("predict", run, "--alternatives", 2, "--stream", "--alignments", stdin=b"abc\n")
    assert (
        said.err
        == "sublayer: --stream does not go together with --alignments, --alternatives: leave one or the other out.\n"
    )
