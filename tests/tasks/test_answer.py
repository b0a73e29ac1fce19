import json
import random

import pytest
import torch
from tests.runs import Heard, command

from sublayer.data.questions import Question, Stretch
from sublayer.errors import CheckpointError, DataError
from sublayer.tasks.asked import NEVER, Passage, best, cost
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

NAMES, DAYS = "ada bob eve kim lee".split(), ["monday", "friday", "next week"]
SMALL = dict(d_model=32, num_heads=2, encoder_layers=2, d_ff=64, dropout=0.0)
TRAIN = dict(steps=150, batch_tokens=512, warmup=10, learning_rate=5e-3, log_every=75)
TRAIN |= dict(validate_every=75, save_every=150, batch_tokens=512)


def line(draw):
    name, day = draw.choice(NAMES), draw.choice(DAYS)
    parts = [
        "a table",
        *([f"for {name}"] if draw.random() < 0.7 else []),
        *([f"on {day}"] if draw.random() < 0.7 else []),
    ]
    context = " ".join(parts) + " please"
    question, answer = draw.choice([("who ?", name), ("when ?", day)])
    start = context.find(answer)
    return f"{question}\t{context}\t{answer if start >= 0 else ''}\t{start}"


def files(folder):
    draw = random.Random(0)
    for name, size in (("train", 300), ("valid", 40)):
        (folder / f"{name}.tsv").write_text("".join(f"{line(draw)}\n" for _ in range(size)), encoding="utf-8")
    return {name: str(folder / f"{name}.tsv") for name in ("train", "valid")}


def trained(folder, *, train=None, model=None, **sections):
    values = {"task": "answer", "data": files(folder), "model": SMALL | (model or {})}
    values |= {"train": TRAIN | (train or {})} | sections
    heard = Heard()
    return fit(make_recipe(values, origin="a test"), folder / "run", heard), heard


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answer")
    trained(folder)
    return folder / "run"


@pytest.fixture(scope="module")
def task(run):
    return load(run)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """One that reads 14 tokens at a time: 9 of a text."""
    folder = tmp_path_factory.mktemp("short")
    return trained(folder, model={"position": "learned", "max_len": 14}, train={"steps": 20})[0]


ASKED = [
    ("when ?", "a table for eve on next week please"),
    ("who ?", "a table for eve on next week please"),
    ("who ?", "a table on friday please"),
]


def test_it_learns_where_answers_stand_and_when_there_is_none(task):
    (when,), (who,), (none,), (empty,) = task.predict([*ASKED, ("", " ")])
    assert (when.text, ASKED[0][1][when.start : when.end]) == ("next week", "next week")
    assert (who.text, none.text, empty.text, empty.score) == ("eve", "", "", 0.0)
    assert when.score > 0 and none.score == 0
    assert next(task.predict(["\t".join(ASKED[0])])) == [when]


def test_what_a_pair_gets_depends_on_itself_alone(task):
    pairs = [tuple(line(random.Random(i)).split("\t")[:2]) for i in range(30)] + [("who ?", "so " * 80 + "eve")]
    together = [found[0] for found in task.predict(pairs)]
    for others, window in ((pairs[::-1], 7), (pairs, 1)):
        given = dict(zip(others, (found[0] for found in task.predict(others, window=window)), strict=True))
        for pair, answer in zip(pairs, together, strict=True):
            assert (given[pair].text, given[pair].start) == (answer.text, answer.start)
            assert given[pair].score == pytest.approx(answer.score, abs=1e-4)
    fast = [found[0] for found in task.for_inference().predict(pairs)]
    assert [a.text for a in fast] == [a.text for a in together]


def test_inference_draws_nothing_and_is_the_same_twice(tmp_path):
    task, _ = trained(tmp_path, train={"steps": 2}, model={"dropout": 0.5, "attention_dropout": 0.5})
    state = torch.get_rng_state()
    task.model.train()
    assert list(task.predict(ASKED)) == list(task.predict(ASKED))
    assert torch.get_rng_state().equal(state)


def test_a_text_that_fits_is_one_window_and_a_long_one_is_seen_whole(short):
    context = "a table for eve on next week please " * 3
    (whole,), (parts,) = short.passages([ASKED[0]], [1]), short.passages([("when ?", context)], [1])
    assert len(whole) == 1 and all(len(part.ids) <= 14 for part in parts) and len(parts) > 2
    starts = [part.places[i].start for part in parts for i in part.answers]
    assert starts == sorted(set(starts)) and len(starts) == 24  # each word is answered for once
    (found,) = short.predict([("when ?", context)], n=200)
    assert {answer.start for answer in found} >= set(starts[:-1])
    with pytest.raises(DataError, match="no room for a text in 14 positions:\n  - line 2: 15 tokens with specials"):
        list(short.predict([ASKED[0], ("so " * 13, "eve")]))


def test_the_best_answer_by_hand():
    places = [Stretch(0, 1), Stretch(2, 3), Stretch(4, 5)]
    passage = Passage([9, 7, 8, 5, 6, 4, 3], places, 3, range(0, 3))
    logits = torch.full((7, 2), 50.0)  # of the question and the end: never read
    logits[passage.rows] = torch.tensor([[1.0, 0.5], [0.0, 4.0], [3.0, 0.9], [2.0, 1.9]])
    assert best(logits, passage, 30, 2) == [(2, 5, pytest.approx(3.4)), (0, 1, 2.5)]  # 3 + 1.9 - 1.5; 0 + 4 - 1.5
    assert best(logits, passage, 1, 1)[0] == (0, 1, 2.5)
    later = Passage(passage.ids, places, 3, range(2, 3))
    assert best(logits, later, 30, 9) == [(4, 5, pytest.approx(2.4))]
    loss = cost(logits, [(passage, Stretch(2, 3))])
    said = logits[passage.rows].log_softmax(0)
    assert float(loss.total) == pytest.approx(-float(said[2, 0] + said[3, 1]) / 2) and loss.count == 1
    assert cost(logits.repeat(2, 1), [(passage, Stretch(2, 3))] * 2).count == 2 and NEVER < -1e3


def test_targets_are_the_tokens_that_hold_the_answer():
    passage = Passage([], [Stretch(0, 3), Stretch(3, 7), Stretch(8, 9)], 0, range(0, 3))
    assert passage.target([Stretch(4, 7)]) == (2, 2)  # a token may take the blank before it
    assert passage.target([Stretch(0, 9)]) == (1, 3)
    assert passage.target([Stretch(8, 12)]) == passage.target([]) == (0, 0)  # goes on behind the window
    assert passage.target([Stretch(8, 12), Stretch(0, 3)]) == (1, 1)


def test_scores_are_those_of_the_answers(run, task):
    rows = [each.split("\t") for each in (run.parent / "valid.tsv").read_text("utf-8").splitlines()]
    given = [found[0].text for found in task.predict((q, c) for q, c, *_ in rows)]
    scores = json.loads(command("evaluate", run, run.parent / "valid.tsv", "--json", "--bootstrap", 10).out)
    assert list(scores) == ["span_f1", "exact", "f1", "loss"]
    assert scores["exact"]["value"] == pytest.approx(
        100 * sum(a == row[2] for a, row in zip(given, rows, strict=True)) / 40
    )
    assert scores["span_f1"]["value"] > 80 and scores["loss"]["unit"] == "windows"


def test_answers_as_lines(run):
    asked = "".join(f"{q}\t{c}\n" for q, c in ASKED[:2]).encode() + b"\n"
    assert command("predict", run, stdin=asked).out == "next week\neve\n\n"
    scored = [each.split("\t") for each in command("predict", run, "--scores", stdin=asked).out.splitlines()]
    assert scored[1][1] == "eve" and float(scored[1][0]) > 0 and scored[2] == ["0.000000", ""]
    rows = [each.split("\t") for each in command("predict", run, "--nbest", 3, stdin=asked).out.splitlines()]
    assert [n for n, *_ in rows] == list("1112223")[: len(rows)] and "" in [text for *_, text in rows]
    records = [json.loads(each) for each in command("predict", run, "--json", stdin=asked).out.splitlines()]
    assert records[0]["answers"][0] | {"score": 0} == {"text": "next week", "start": 19, "end": 28, "score": 0}
    said = command("predict", run, stdin=b"who ?\n")
    assert (
        said.code == 2
        and "Needed: a question and its text a line, a tab between them. Came:\n  - line 1: 1" in said.err
    )
    assert command("predict", run, stdin=b"") == (0, "", "")


def test_the_threshold_decides(tmp_path):
    shy, _ = trained(tmp_path, train={"steps": 20}, answer={"threshold": 1e6})
    assert [found[0].text for found in load(tmp_path / "run").predict(ASKED)] == ["", "", ""]
    assert shy.rules.threshold == 1e6


def test_published_vocabularies_and_other_kinds(tmp_path):
    for kind in ("bpe", "char"):
        folder = tmp_path / kind
        folder.mkdir()
        task, _ = trained(folder, train={"steps": 2}, text={"kind": kind, "vocab_size": 300})
        item = Question(*ASKED[0], (Stretch(19, 28),), 1)
        ((passage, target),) = task.examples([item])
        places = passage.places
        answer = item.context[places[target[0] - 1].start : places[target[1] - 1].end]
        assert answer.strip() == "next week"
        assert list(load(folder / "run").predict(ASKED)) == list(task.predict(ASKED))


def test_what_cannot_be(run, tmp_path):
    (tmp_path / "none.tsv").write_text("who?\ta b\t\t-1\n", encoding="utf-8")
    said = command("train", "--task", "answer", "--train", tmp_path / "none.tsv", "--out", tmp_path / "run")
    assert said.code == 2 and "There is nothing to learn: no question has an answer." in said.err
    load(run).save_pretrained(tmp_path / "saved")
    about = json.loads((tmp_path / "saved" / "task.json").read_text("utf-8"))
    (tmp_path / "saved" / "task.json").write_text(json.dumps(about | {"rules": 1}), encoding="utf-8")
    with pytest.raises(CheckpointError, match="task.json does not say what an answer is"):
        load(tmp_path / "saved")
