import json

import pytest
from tests.serve.asking import events, run
from tests.serve.small import small_task

from sublayer.errors import ConfigError, DataError
from sublayer.serve.doors import door, named
from sublayer.serve.limits import Limits, read_limits
from sublayer.serve.writing import Asked
from sublayer.tasks.search import Search

ONE_BY_ONE = (
    {},
    {"temperature": 1.5, "seed": 3, "top_k": 4},
    {"stop_strings": ["dc", "ab"]},
    {"prefix": "e", "forbid": ["bc"], "min_length": 6},
    {"no_repeat": 1, "max_ratio": 0, "max_extra": 3},
)
LINES = ["abcd", "", "ed", "  ", "abcdcb", "b"]


@pytest.fixture(scope="module")
def task():
    return small_task()


@pytest.fixture(scope="module")
def served(task):
    return door(task, task.for_inference(), Limits(hypotheses=8, written=400, tokens=60, characters=100, pictured=12))


def with_these(task, options):
    return Search(**task.search.model_dump() | options)


def plain(found):
    return [a.text for a in found], [list(a.tokens) for a in found], [a.finished for a in found]


def told(answer):
    return [a["text"] for a in answer], [a["tokens"] for a in answer], [a["finished"] for a in answer]


@pytest.mark.parametrize("options", [*ONE_BY_ONE, {"beam": 4, "nbest": 3}, {"groups": 2, "nbest": 2}])
def test_answers_are_those_of_predict(task, served, options):
    found = dict(served.answer(LINES, served.settings(options)))
    expected = list(task.predict(LINES, search=with_these(task, options)))
    for number, right in enumerate(expected):
        assert told(found[number]["answer"]) == plain(right)
        for answer, one in zip(found[number]["answer"], right, strict=True):
            assert answer["score"] == pytest.approx(one.score, abs=1e-5)
            assert answer["token_logps"] == pytest.approx(one.token_logps, abs=1e-5)
        json.dumps(found[number], allow_nan=False)


@pytest.mark.parametrize("options", ONE_BY_ONE)
def test_a_stream_writes_what_predict_gives(task, served, options):
    texts, answers, logps = [""] * len(LINES), {}, [[] for _ in LINES]
    for number, event in served.stream(LINES, served.settings(options)):
        assert number not in answers
        if "answer" in event:
            answers[number] = event["answer"]
        else:
            texts[number] += event["text"]
            logps[number].append(event["logp"])
    for number, right in enumerate(task.predict(LINES, search=with_these(task, options))):
        assert told(answers[number]) == plain(right)
        assert answers[number][0]["score"] == pytest.approx(right[0].score, abs=1e-5)
        assert texts[number] == right[0].text
        if not options.get("stop_strings"):
            assert logps[number] == pytest.approx(right[0].token_logps, abs=1e-5)


WHOLE = [{"beam": 3}, {"temperature": 1.0, "nbest": 2}, {"require": ["dd"], "beam": 2}, {"replace_unknown": True}]


@pytest.mark.parametrize("options", [*WHOLE, {"alignments": True}])
def test_what_is_known_at_the_end_only_comes_whole(served, options):
    settings = served.settings(options)
    assert list(served.stream(["abcd"], settings)) == list(served.answer(["abcd"], settings))


def test_another_engine_answers_whole(task):
    class Other:
        name = "other"
        find = staticmethod(task.engine.find)

    quick = task.for_inference()
    quick.engine = Other()
    found = list(door(task, quick, Limits()).stream(["abc"], Asked(Search())))
    assert [sorted(event) for _, event in found] == [["answer"]]


def test_nothing_that_may_come_is_null_not_infinity(served):
    settings = served.settings({"prefix": "ab", "forbid": ["ab"], "beam": 2})
    [(_, event)] = served.answer(["abcd"], settings)
    assert event["answer"][0]["score"] is None and event["answer"][0]["finished"] is False


def test_options_stand_over_those_of_the_run(task, served):
    assert served.settings({}) == (task.search, False)
    assert served.settings({"beam": 3, "nbest": None}) == (with_these(task, {"beam": 3}), False)
    assert served.settings({"alignments": True}) == (task.search, True)
    assert served.about()["defaults"] == task.search.model_dump()


@pytest.mark.parametrize(
    "options, said",
    [
        ({"beam": 2.5}, "beam"),
        ({"beam": "2"}, "beam"),
        ({"beam": 0}, "greater than or equal to 1"),
        ({"seed": 2**31}, "less than or equal to 2147483647"),
        ({"temperature": float("inf")}, "temperature"),
        ({"length_penalty": float("nan")}, "length_penalty"),
        ({"forbid": ["x" * 201]}, "at most 200 characters"),
        ({"forbid": ["x"] * 33}, "at most 32 items"),
        ({"stop": "late"}, "'exact' or 'early'"),
        ({"nbest": 2}, "nbest=2 is more than beam=1 can give: widen the beam"),
    ],
)
def test_what_options_cannot_be(served, options, said):
    with pytest.raises(ValueError, match=said):
        served.settings(options)


@pytest.mark.parametrize(
    "text, options, error, said",
    [
        ("a" * 60, {}, DataError, "text: 61 tokens with </s>, and at most 60 are read: cut it."),
        ("a" * 101, {}, DataError, "101 characters, and at most 100 are read: cut the text."),
        ("a", {"beam": 9}, ConfigError, "9 hypotheses side by side, and at most 8 are computed here."),
        ("a", {"beam": 8, "max_extra": 99}, ConfigError, "8 hypotheses of up to 101 tokens, and at most 400 tokens"),
        ("\ud800", {}, DataError, "text that UTF-8 can hold"),
    ],
)
def test_what_costs_too_much_is_refused(served, text, options, error, said):
    with pytest.raises(error, match=said):
        served.size(text, served.settings(options))


def test_a_size_counts_the_end_token_and_the_hypotheses(served):
    assert served.size("abc", served.settings({"beam": 3})) == (4, 3)


def test_words_that_belong_together_come_where_they_are_asked_for(task, served):
    found = dict(served.answer(LINES, served.settings({"alignments": True, "beam": 2})))
    search = with_these(task, {"beam": 2})
    for number, right in enumerate(task.predict(LINES, search=search, alignments=True)):
        own, linked = right[0].alignment, found[number]["answer"][0].get("alignment")
        if own is None:  # of an empty line
            assert linked is None
            continue
        assert (linked["source"], linked["target"]) == (list(own.source), list(own.target))
        assert linked["links"] == list(own.links)
    assert "alignment" not in dict(served.answer(["ab"], served.settings({})))[0]["answer"][0]


def test_attention_is_that_of_the_answer(served, task):
    [(_, event)] = served.attention(["abc"], served.aim("abc", None))
    cross = event["answer"]["kinds"]["cross"]
    [[own]] = task.predict(["abc"])
    written = [token.replace(" ", "␣") for token in own.tokens if token != "</s>"]
    assert (cross["rows"], cross["columns"]) == ([*written, "</s>"], ["a", "b", "c", "</s>"])
    [(_, other)] = served.attention(["abc"], served.aim("abc", "dd"))
    assert other["answer"]["kinds"]["cross"]["rows"] == ["d", "d", "</s>"]
    for text, target, side in (("a" * 12, None, "text"), ("a", "b" * 12, "target")):
        with pytest.raises(DataError, match=f"{side}: 13 tokens with </s>, and at most 12 are read"):
            served.aim(text, target)


def test_over_http(task, served):
    async def questions(client):
        together = await client.post("/predict", json={"texts": LINES, "options": {"beam": 2, "nbest": 2}})
        streamed = await client.post("/stream", json={"text": "abcd"})
        refused = await client.post("/predict", json={"texts": ["a"], "options": {"beem": 2}})
        return together.json()["answers"], events(streamed.text), refused.json()["problems"]

    answers, streamed, problems = run({"reverse": served}, questions)
    expected = [plain(found) for found in task.predict(LINES, search=with_these(task, dict(beam=2, nbest=2)))]
    assert [told(answer) for answer in answers] == expected
    [[own]] = task.predict(["abcd"])
    assert [data["token"] for kind, data in streamed if kind == "piece"] == list(own.tokens)
    assert told(streamed[-1][1]["answer"]) == plain([own])
    assert problems == [{"at": "options.beem", "problem": "there is no such option. Did you mean 'beam'?"}]


def test_runs_have_names(tmp_path):
    paths = [tmp_path / "a" / "run", tmp_path / "b" / "run"]
    assert {name: path.name for name, path in named([f"one={paths[0]}", str(paths[1])]).items()} == {
        "one": "run",
        "run": "run",
    }
    with pytest.raises(ConfigError, match="Several runs have the name run: give each its own, as in NAME="):
        named([str(path) for path in paths])


def test_limits_are_told_by_name():
    assert read_limits(["waiting=7", "patience=1.5"]) == Limits(waiting=7, patience=1.5)
    with pytest.raises(ConfigError) as error:
        read_limits(["weiting=7", "body=x", "tokens"])
    assert str(error.value).splitlines()[0] == "--limit:"
    for said in (
        "weiting: Did you mean 'waiting'?",
        "body: Input should be a valid integer",
        "tokens: Input should be",
    ):
        assert said in str(error.value)
