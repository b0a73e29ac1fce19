import json
import math
import random

import pytest
import torch
from tests.runs import Heard, command

from sublayer.data.text import Line
from sublayer.errors import CheckpointError, ConfigError, DataError
from sublayer.models.config import ModelConfig
from sublayer.tasks.bundle import load
from sublayer.tasks.fill import Fill
from sublayer.tasks.filling import Filling
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

SMALL = dict(d_model=32, num_heads=2, encoder_layers=1, d_ff=64, dropout=0.0)
TRAIN = dict(steps=150, batch_tokens=512, warmup=10, learning_rate=1e-2, validate_every=75, save_every=150)


def line(draw):
    animal, sound = draw.choice([("cat", "purrs"), ("dog", "barks"), ("cow", "moos")])
    return f"the {animal} {draw.choice(['often', 'never', 'now'])} {sound}"


def files(folder):
    draw = random.Random(0)
    for name, size in (("train", 200), ("valid", 20)):
        (folder / f"{name}.txt").write_text("".join(f"{line(draw)}\n" for _ in range(size)) + "\n", encoding="utf-8")
    return {name: str(folder / f"{name}.txt") for name in ("train", "valid")}


def trained(folder, *, train=None, model=None, text=None):
    values = {"task": "fill", "data": files(folder), "text": {"kind": "word"} | (text or {})}
    values |= {"model": SMALL | (model or {}), "train": TRAIN | {"log_every": 75} | (train or {})}
    heard = Heard()
    return fit(make_recipe(values, origin="a test"), folder / "run", heard), heard


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fill")
    trained(folder)
    return folder / "run"


@pytest.fixture(scope="module")
def task(run):
    return load(run)


def test_it_learns_what_is_missing(task):
    cat, both, whole, empty = task.predict(["the cat never [MASK]", "the [MASK] often [MASK]", "the dog barks", ""])
    assert cat.text == "the cat never purrs" and cat.blanks[0][0].probability > 0.5
    assert len(cat.blanks[0]) == 5 and len(both.blanks) == 2
    assert (whole.text, whole.blanks, empty.text, empty.blanks) == ("the dog barks", (), "", ())
    (found,) = task.predict(["the [MASK] now moos"], n=1000)
    assert found.text == "the cow now moos"
    assert sum(guess.probability for guess in found.blanks[0]) == pytest.approx(1, abs=0.05)
    assert not {"<pad>", "<s>", "</s>", "<unk>", "[MASK]"} & {guess.token for guess in found.blanks[0]}


def test_what_a_text_gets_depends_on_itself_alone(task):
    texts = [f"the {a} {b} [MASK]" for a in ("cat", "dog", "cow") for b in ("often now never", "now")] + ["[MASK]"] * 3
    together = list(task.predict(texts))
    for window in (1, 4):
        for a, b in zip(task.predict(texts, window=window), together, strict=True):
            assert a.text == b.text
            assert [g.probability for g in a.blanks[0]] == pytest.approx([g.probability for g in b.blanks[0]], abs=1e-5)
    assert [found.text for found in task.for_inference().predict(texts)] == [found.text for found in together]


def test_inference_draws_nothing_and_is_the_same_twice(tmp_path):
    task, _ = trained(tmp_path, train={"steps": 2}, model={"dropout": 0.5, "attention_dropout": 0.5})
    state = torch.get_rng_state()
    task.model.train()
    items = [Line("the cat now purrs", 0, 1)]
    assert list(task.predict(["the [MASK]"])) == list(task.predict(["the [MASK]"]))
    assert task.evaluate(items, task.metrics) == task.evaluate(items, task.metrics)
    assert torch.get_rng_state().equal(state)


def test_each_epoch_leaves_out_other_tokens_and_the_same_seed_the_same(task):
    items = [Line(line(random.Random(i)), 0, i) for i in range(20)]
    train = make_recipe({"task": "fill", "train": {"batch_tokens": 64, "seed": 3}}, origin="o").train
    made = [Filling().batches(task, Filling().encode(task, items), train) for _ in range(2)]

    def blanks(batches, number):
        return [batches.make(rows) for rows in batches.epoch(number)]

    assert blanks(made[0], 0) == blanks(made[1], 0) != blanks(made[0], 1)
    for ids, places, right in blanks(made[0], 0)[0]:
        assert ids[0] == task.tokenizer.bos and ids[-1] == task.tokenizer.eos and len(places) == len(right) == 1


def test_only_the_places_that_are_asked_are_projected(task):
    ids = [task.blanked("the [MASK] now purrs"), task.blanked("the dog [MASK] often barks")]
    mask = torch.tensor([[True] * 6 + [False], [True] * 7])
    rows = torch.tensor([[*ids[0], 0], ids[1]])
    some = task.model(rows, mask, places=torch.tensor([2, 9]))
    torch.testing.assert_close(some, task.model(rows, mask)[[2, 9]])


def test_scores(run, task):
    said = json.loads(command("evaluate", run, run.parent / "valid.txt", "--json", "--bootstrap", 10).out)
    assert list(said) == ["accuracy", "loss", "perplexity"] and said["accuracy"]["count"] == 20
    assert said["perplexity"]["value"] == pytest.approx(math.exp(said["loss"]["value"]))
    again = json.loads(command("evaluate", run, run.parent / "valid.txt", "--json", "--bootstrap", 0).out)
    assert again["loss"] == said["loss"] and "masked:15%|seed:1|word tokens" in said["loss"]["signature"]


def test_pseudo_perplexity_by_hand(task):
    text = "the dog now barks"
    (score,) = task.evaluate([Line(text, 0, 1), Line("", 0, 2)], ["pseudo_perplexity"])
    words, total = text.split(), 0.0
    for i, word in enumerate(words):
        (found,) = task.predict([" ".join([*words[:i], "[MASK]", *words[i + 1 :]])], n=1000)
        total -= math.log(next(g.probability for g in found.blanks[0] if g.token == word))
    assert score.value == pytest.approx(math.exp(total / 4), rel=1e-4) and score.count == 4
    with pytest.raises(ConfigError, match="unknown metric 'accurasy'. Did you mean 'accuracy'?"):
        task.evaluate([Line(text, 0, 1)], ["accurasy"])
    with pytest.raises(DataError, match="nothing to evaluate"):
        task.evaluate([Line("", 0, 1)], ["loss"])


def test_answers_as_lines(run):
    asked = b"the cat never [MASK]\n\nthe [MASK] now [MASK]\n"
    plain = command("predict", run, stdin=asked).out.split("\n")
    assert plain[:2] == ["the cat never purrs", ""] and plain[3] == "" and len(plain) == 4
    scored = command("predict", run, "--scores", stdin=asked).out.splitlines()
    assert float(scored[0].split("\t")[0]) > 0.5 and scored[1] == "1.000000\t"
    rows = [each.split("\t") for each in command("predict", run, "--nbest", 3, stdin=asked).out.splitlines()]
    assert [n for n, *_ in rows] == list("1112333333") and rows[0][2] == "purrs"
    records = [json.loads(each) for each in command("predict", run, "--json", stdin=asked).out.splitlines()]
    assert [len(r["blanks"]) for r in records] == [1, 0, 2] and len(records[0]["blanks"][0]) == 5
    assert command("predict", run, stdin=b"") == (0, "", "")


@pytest.mark.parametrize("kind", ["bpe", "char", "wordpiece", "unigram"])
def test_blanks_stand_where_tokens_were(tmp_path, kind):
    task, _ = trained(tmp_path, train={"steps": 1}, text={"kind": kind, "vocab_size": 300})
    whole, blank = task.encode([["the cat now purrs"]])[0], task.blanked("the [MASK] now purrs")
    assert blank.count(task.mask) == 1 and task.mask == len(task.tokenizer)
    at = blank.index(task.mask)
    assert whole[:at] == blank[:at] and whole[len(whole) - (len(blank) - at - 1) :] == blank[at + 1 :]
    (found,) = task.predict(["the [MASK] now purrs"])
    assert found == next(load(tmp_path / "run").predict(["the [MASK] now purrs"]))


def test_long_lines(tmp_path):
    task, _ = trained(tmp_path, train={"steps": 2}, model={"position": "learned", "max_len": 6})
    pieces = task.encode_lines([Line("the cat now purrs " * 3, 0, 1)])
    assert [len(piece) for piece in pieces] == [4, 4, 4]
    with pytest.raises(DataError, match="Longer than the 6 positions .*\n  - line 2: 8 tokens with specials"):
        list(task.predict(["a", "the cat now purrs the [MASK]"]))


def test_what_cannot_be(run, tmp_path):
    load(run).save_pretrained(tmp_path / "saved")
    about = json.loads((tmp_path / "saved" / "task.json").read_text("utf-8"))
    (tmp_path / "saved" / "task.json").write_text(json.dumps(about | {"head": 1}), encoding="utf-8")
    with pytest.raises(CheckpointError, match="task.json does not say how blanks are filled"):
        load(tmp_path / "saved")
    said = command("predict", run, "--cut", stdin=b"a\n")
    assert said.code == 2 and "--cut is for runs of task embed, and this one holds a Fill." in said.err
    assert isinstance(load(run), Fill) and isinstance(load(run).config, ModelConfig)
