"""What every door does, on small tasks that have learned nothing."""

import json
from dataclasses import asdict

import pytest
from tests.serve.asking import events, run
from tests.small_tasks import SMALL, classify, small

from sublayer.errors import ConfigError, DataError
from sublayer.serve.doors import door
from sublayer.serve.limits import Limits
from sublayer.tasks.search import Search

LIMITS = Limits(tokens=30, characters=100, pictured=12, hypotheses=4, written=100)


def served(kind):
    task, texts = small(kind)
    return task, door(task, task.for_inference(), LIMITS), texts


def right(task, kind, texts):
    """What `predict` gives, as plain values."""
    found = list(task.predict(texts))
    if kind == "classify":
        each = [asdict(a) for a in found]
        return [
            {
                "labels": list(a["labels"]),
                "scores": [{"label": label, "probability": pytest.approx(p)} for label, p in a["scores"].items()],
            }
            for a in each
        ]
    if kind == "tag":
        spans = [[span._asdict() for span in a.spans] for a in found]
        return [
            {"words": list(a.words), "tags": list(a.tags), "scores": pytest.approx(list(a.scores)), "spans": marked}
            for a, marked in zip(found, spans, strict=True)
        ]
    if kind == "embed":
        return [{"vector": pytest.approx(vector.tolist(), abs=1e-5)} for vector in found]
    if kind == "answer":
        return [[asdict(a) | {"score": pytest.approx(a.score, abs=1e-4)} for a in answers] for answers in found]
    if kind == "fill":
        return [
            {
                "text": a.text,
                "blanks": [
                    [{"token": g.token, "probability": pytest.approx(g.probability, abs=1e-5)} for g in each]
                    for each in a.blanks
                ],
            }
            for a in found
        ]
    return [[a.text for a in answers] for answers in found]


def told(kind, answer):
    return [a["text"] for a in answer] if kind in ("translate", "complete") else answer


@pytest.mark.parametrize("kind", SMALL)
def test_answers_and_streams_are_those_of_predict(kind):
    task, made, texts = served(kind)
    texts = [*texts, ""]
    expected = right(task, kind, texts)
    for way in (made.answer, made.stream):
        pieces, answers = [""] * len(texts), {}
        for number, event in way(texts, made.settings({})):
            json.dumps(event, allow_nan=False)
            assert number not in answers
            if "answer" in event:
                answers[number] = told(kind, event["answer"])
            else:
                pieces[number] += event["text"]
        assert [answers[n] for n in range(len(texts))] == expected
        if way == made.stream and kind in ("translate", "complete"):
            assert pieces == [answers[n][0] for n in range(len(texts))]


@pytest.mark.parametrize("kind", SMALL)
def test_over_http_with_its_description(kind):
    task, made, texts = served(kind)

    async def questions(client):
        answered = await client.post("/predict", json={"texts": texts})
        streamed = await client.post("/stream", json={"text": texts[0]})
        attention = await client.post("/attention", json={"text": texts[0]})
        refused = await client.post("/predict", json={"texts": ["a"], "options": {"beem": 2}})
        described = await client.get("/openapi.json")
        models = await client.get("/models")
        return [reply.json() for reply in (answered, attention, refused, described, models)], events(streamed.text)

    (answered, attention, refused, described, models), streamed = run({"m": made}, questions)
    expected = right(task, kind, texts)
    assert [told(kind, answer) for answer in answered["answers"]] == expected
    assert told(kind, streamed[-1][1]["answer"]) == expected[0] and streamed[-1][0] == "answer"
    main = {"translate": "cross", "complete": "decoder"}.get(kind, "encoder")
    assert attention["attention"]["kinds"][main]["rows"]
    assert refused["problems"][0]["at"] == "options.beem"
    answer = described["paths"]["/predict"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    parts = {"classify": "Likely", "tag": "Marked", "embed": "Vector", "answer": "Stretch", "fill": "Guess"}
    named = parts.get(kind, "Answer")
    assert f"'{named}'" in str(described) and answer["required"] == ["model", "answers"]
    assert models["models"][0]["task"] == kind and models["models"][0]["tokens"] == 30


@pytest.mark.parametrize("kind", SMALL)
def test_what_is_too_long_is_refused(kind):
    _, made, _ = served(kind)
    settings, a = made.settings({}), "a\ta" if kind == "answer" else "a"
    assert made.size(f"{a} a", settings).rows == 1
    with pytest.raises(DataError, match="10[13] characters, and at most 100 are read: cut the text."):
        made.size(f"{a}{100 * 'a'}", settings)
    with pytest.raises(DataError, match="tokens with .*, and at most 30 are read: cut it."):
        made.size(f"{a} {'a b ' * 20}", settings)
    with pytest.raises(DataError, match="tokens with .*, and at most 12 are read: cut it."):
        made.aim(f"{a} {'a b ' * 7}", None)


def test_a_reader_has_no_target():
    for kind in ("classify", "tag", "embed", "answer", "fill"):
        with pytest.raises(ConfigError, match=f"this one does not: {kind}. Leave it out."):
            served(kind)[1].aim("a", "b")


def test_a_pair_of_texts_is_one_with_a_tab():
    task = classify()
    object.__setattr__(task.labels, "texts", 2)
    made = door(task, task.for_inference(), LIMITS)
    assert made.about()["texts"] == 2 and made.size("a cat\ta dog", None).tokens == 7
    with pytest.raises(DataError, match="two texts with a tab between them needed, and 1 came."):
        made.size("a cat", None)


@pytest.mark.parametrize("options", [{"temperature": 1.2, "seed": 4}, {"stop_strings": ["a"]}, {"beam": 3, "nbest": 2}])
def test_continuations_with_options(options):
    task, made, texts = served("complete")
    search = Search(**task.search.model_dump() | options)
    found = [[a.text for a in answers] for answers in task.predict(texts, search=search)]
    for way in (made.answer, made.stream):
        answers = {n: event["answer"] for n, event in way(texts, made.settings(options)) if "answer" in event}
        assert [told("complete", answers[n]) for n in range(len(texts))] == found


def test_several_answers_and_guesses():
    for kind, options, count in (("answer", {"n": 3}, 3), ("fill", {"n": 2}, 2)):
        task, made, (text, *_) = served(kind)
        [(_, event)] = made.answer([text], made.settings(options))
        assert len(event["answer"] if kind == "answer" else event["answer"]["blanks"][0]) == count
        for wrong in ({"n": 0}, {"n": 33}, {"n": "2"}, {"m": 1}):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                made.settings(wrong)
    with pytest.raises(DataError, match="a question and its text with a tab between them needed, and 1 came."):
        served("answer")[1].size("who ?", None)


def test_an_unknown_word_of_a_source_cannot_be_put_into_a_continuation():
    with pytest.raises(ValueError, match="replace_unknown"):
        served("complete")[1].settings({"replace_unknown": True})


def test_a_task_without_a_door_is_told():
    class Other:
        pass

    with pytest.raises(
        ConfigError, match="A Other cannot be served yet. What can: Translate, Classify, Tag, Complete, Embed, "
    ):
        door(Other(), Other(), LIMITS)
