import json
import random

import pytest
import torch
from tests.runs import Heard, command

from sublayer.errors import CheckpointError, ConfigError, DataError
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe, read_recipe
from sublayer.text import NGrams

ANIMALS, TOOLS = "cat dog bird fish horse horses".split(), "hammer hammers saw drill wrench plane".split()
SMALL = dict(d_model=16, num_heads=2, encoder_layers=1, d_ff=32, dropout=0.0)
TRAIN = dict(steps=60, batch_tokens=128, warmup=5, learning_rate=1e-2, validate_every=30, save_every=60, log_every=30)


def line(draw, *, pair=False, several=False):
    """A text about an animal, a tool, or of several both, and which."""
    kinds = draw.choice([["animal"], ["tool"], ["animal", "tool"], []] if several else [["animal"], ["tool"]])
    words = draw.choices("the a my our one this".split(), k=draw.randint(1, 5))
    words += [draw.choice(ANIMALS if kind == "animal" else TOOLS) for kind in kinds]
    draw.shuffle(words)
    text = " ".join(words)
    if pair:
        other = draw.choice(["animal", "tool"])
        again = f"and {draw.choice(ANIMALS if other == 'animal' else TOOLS)}"
        return f"{text}\t{again}\t{'same' if kinds == [other] else 'other'}"
    return f"{text}\t{'|'.join(kinds) if several else kinds[0]}"


def files(folder, **kind):
    draw = random.Random(0)
    for name, size in (("train", 150), ("valid", 30)):
        (folder / f"{name}.tsv").write_text("".join(f"{line(draw, **kind)}\n" for _ in range(size)), encoding="utf-8")
    return {name: str(folder / f"{name}.tsv") for name in ("train", "valid")}


def trained(folder, *, train=None, labels=None, model=None, head=None, text=None, **kind):
    values = {
        "task": "classify",
        "data": files(folder, **kind),
        "labels": labels or {},
        "text": text or {},
        "model": SMALL | (model or {}),
        "head": head or {},
        "train": TRAIN | (train or {}),
    }
    heard = Heard()
    return fit(make_recipe(values, origin="a test"), folder / "run", heard), heard


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classify")
    trained(folder)
    return folder / "run"


@pytest.fixture(scope="module")
def task(run):
    return load(run)


def test_it_learns_and_knows_words_by_their_spelling(task):
    answers = list(task.predict(["my cat", "this hammer", "the horsey", "", "one hammering"]))
    assert [found.labels for found in answers] == [("animal",), ("tool",), ("animal",), (), ("tool",)]
    assert sum(answers[0].scores.values()) == pytest.approx(1) and list(answers[0].scores) == ["animal", "tool"]
    assert isinstance(task.tokenizer, NGrams)


def test_the_run_folder_is_whole_and_is_loaded_again(run, task, tmp_path):
    assert {path.name for path in run.iterdir()} == {
        "recipe.yaml", "config.json", "model.safetensors", "tokenizer.json", "task.json", "metrics.jsonl", "samples",
        "checkpoints",
    }  # fmt: skip
    recipe = read_recipe(run / "recipe.yaml")
    assert (recipe.task, recipe.model.architecture, recipe.model.bags) == ("classify", "encoder", True)
    text, answer, label = (run / "samples" / "valid.tsv").read_text("utf-8").split("\n")[0].split("\t")
    assert answer == label and (run.parent / "valid.tsv").read_text("utf-8").startswith(f"{text}\t{label}\n")
    task.save_pretrained(tmp_path / "saved")
    assert list(load(tmp_path / "saved").predict(["a dog"])) == list(task.predict(["a dog"]))


def test_what_a_text_gets_depends_on_itself_alone(task):
    texts = [t.split("\t")[0] for t in (line(random.Random(i)) for i in range(40))] + ["word " * 60 + "cat"]
    together = list(task.predict(texts))
    for others in (texts[::-1], texts):
        window = 1 if others is texts else 7
        found = dict(zip(others, task.predict(others, window=window), strict=True))
        for text, answer in zip(texts, together, strict=True):
            assert found[text].scores == pytest.approx(answer.scores, abs=1e-5)
    fast = list(task.for_inference().predict(texts))
    assert [a.scores for a in fast] == [pytest.approx(a.scores, abs=1e-5) for a in together]


def test_scores_are_those_of_the_answers(run, task):
    rows = [row.split("\t") for row in (run.parent / "valid.tsv").read_text("utf-8").splitlines()]
    given = [found.labels[0] for found in task.predict(text for text, _ in rows)]
    right = [label for _, label in rows]
    scores = json.loads(command("evaluate", run, run.parent / "valid.tsv", "--json", "--bootstrap", 10).out)
    assert list(scores) == ["accuracy", "macro_f1", "micro_f1", "loss", "f1:animal", "f1:tool"]
    assert scores["accuracy"]["value"] == pytest.approx(100 * sum(map(str.__eq__, given, right)) / 30)
    probabilities = [found.scores[label] for found, label in zip(task.predict(t for t, _ in rows), right, strict=True)]
    assert scores["loss"]["value"] == pytest.approx(-float(torch.tensor(probabilities).log().mean()), abs=1e-5)
    assert (scores["loss"]["count"], scores["loss"]["unit"]) == (30, "texts")


def test_answers_as_lines(run):
    def said(*how):
        return command("predict", run, *how, stdin=b"a cat\n\nthis saw\n").out.splitlines()

    assert said() == ["animal", "", "tool"]
    first, empty, last = (each.split("\t") for each in said("--scores"))
    assert (first[1], empty, last[1]) == ("animal", ["0.000000", ""], "tool") and float(first[0]) > 0.5
    both = [each.split("\t") for each in said("--nbest", 2)]
    assert [(n, label) for n, _, label in both] == [
        ("1", "animal"), ("1", "tool"), ("2", ""), ("3", "tool"), ("3", "animal"),
    ]  # fmt: skip
    records = [json.loads(each) for each in said("--json")]
    assert [r["labels"] for r in records] == [["animal"], [], ["tool"]] and records[1]["scores"] == {}


@pytest.mark.parametrize("option", [("--beam", 2), ("--set", "search.beam=2"), ("--engine", "onnx")])
def test_options_of_a_search_are_refused(run, option):
    said = command("predict", run, *option, stdin=b"a cat\n")
    assert said.code == 2 and said.out == "" and "Classify" in said.err


def test_options_of_translation_are_refused_by_name(run):
    for options, named in (
        (("--stream",), "--stream is"),
        (("--alternatives", 2, "--int8"), "--alternatives, --int8 are"),
        (("--alignments", "--engine", "onnx"), "--alignments, --engine are"),
        (("--with", run), "--with is"),
    ):
        said = command("predict", run, *options, stdin=b"a cat\n")
        assert said == (2, "", f"sublayer: {named} for runs of task translate, and this one holds a Classify.\n")
    said = command("predict", run, run.parent / "valid.tsv", "--workers", 2)
    assert said.code == 2 and "--workers is for runs of task translate" in said.err
    for options, named in ((("--int8",), "--int8 is"), (("--with", run), "--with is")):
        said = command("evaluate", run, run.parent / "valid.tsv", *options)
        assert said.code == 2 and f"{named} for runs of task translate, and this one holds a Classify." in said.err


def test_other_verbs(run, tmp_path):
    assert "labels: 2, animal, tool\n" in command("show", run, "--text", "my cat").out
    assert command("attend", run, "a cat", "--out", tmp_path / "x.html").code == 0
    for verb, *more in (("score", run.parent / "valid.tsv"), ("export", "--to", "onnx")):
        said = command(verb, run, *more)
        asked = "--to onnx" if verb == "export" else verb
        assert said.code == 2 and f"{asked} is for runs of task translate, and this one holds a Classify." in said.err
    said = command("evaluate", run, run.parent / "valid.tsv", run.parent / "train.tsv")
    assert said.code == 2 and "the files:\n  - data.train: List should have at most 1 item" in said.err
    said = command("train", "--resume", "--out", run)
    assert said.code == 0 and "Nothing is left to do: the run ended at step 60." in said.err


def test_pairs_of_texts(tmp_path):
    task, _ = trained(tmp_path, pair=True, train={"steps": 20})
    assert task.labels.texts == 2
    (found,) = task.predict([("my cat", "and dog")])
    assert next(task.predict(["my cat\tand dog"])) == found and set(found.scores) == {"same", "other"}
    assert next(task.predict([("my cat", "and saw")])).scores != found.scores
    with pytest.raises(DataError, match="two texts a line, a tab between them. What came:\n  - line 2: 1"):
        list(task.predict(["a\tb", "alone"]))


def test_several_labels_or_none(tmp_path):
    task, _ = trained(tmp_path, several=True, labels={"several": True}, train={"steps": 200})
    answers = list(task.predict(["the saw my cat", "this dog", "the one", ""]))
    assert [set(found.labels) for found in answers] == [{"animal", "tool"}, {"animal"}, set(), set()]
    assert sum(answers[0].scores.values()) > 1.5
    said = command("predict", tmp_path / "run", "--json", stdin=b"the one\n")
    assert json.loads(said.out)["labels"] == []


@pytest.mark.parametrize("settings", [
    {"head": {"pool": "max"}, "text": {"kind": "bpe", "vocab_size": 280}},
    {"head": {"pool": "first"}, "text": {"kind": "word"}, "model": {"position": "rotary"}},
    {"text": {"kind": "char"}, "model": {"position": "alibi", "norm_first": False}},
])  # fmt: skip
def test_other_parts_train_and_are_loaded_again(tmp_path, settings):
    task, heard = trained(tmp_path, train={"steps": 40}, **settings)
    losses = [record["valid_loss"] for record in heard.records if "valid_loss" in record]
    assert losses[-1] < 0.69
    texts = ["the cat", "a drill of the one"]
    for a, b in zip(load(tmp_path / "run").predict(texts), task.predict(texts), strict=True):
        assert a == b


def test_a_text_too_long_for_learned_positions_is_named(tmp_path):
    task, _ = trained(tmp_path, model={"position": "learned", "max_len": 12}, train={"steps": 1})
    with pytest.raises(DataError, match="Longer than the 12 positions that the model learns:\n  - line 2: 13 tokens"):
        list(task.predict(["a", "b " * 11]))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"search": {"beam": 2}}, "search: there is no such key. It belongs to task translate or complete."),
        ({"text": {"source": {"kind": "char"}}}, "text.source: there is no such key. It belongs to task translate."),
        ({"model": {"architecture": "decoder"}}, "task classify needs an encoder, not model.architecture 'decoder'"),
        ({"model": {"head": "classes"}}, "task classify brings its own head: leave model.head out"),
        ({"head": {"pool": "sum"}}, "head.pool: Input should be 'mean', 'max' or 'first' (got 'sum')"),
        ({"train": {"metric": "blue"}}, "metric 'blue' is unknown."),
        ({"train": {"metric": "micro_f1"}}, "'micro_f1' is not measured: add it to train.validate_metrics"),
    ],
)
def test_what_a_recipe_cannot_say(values, words):
    with pytest.raises(ConfigError) as error:
        make_recipe({"task": "classify"} | values, origin="r.yaml")
    assert words in str(error.value)


def test_one_label_alone_and_a_folder_without_labels_are_refused(run, tmp_path):
    (tmp_path / "one.tsv").write_text("a\tX\nb\tX\n", encoding="utf-8")
    recipe = make_recipe({"task": "classify", "data": {"train": str(tmp_path / "one.tsv")}}, origin="o")
    with pytest.raises(DataError, match=r"nothing to tell apart: the labels are \['X'\]"):
        fit(recipe, tmp_path / "run", Heard())
    load(run).save_pretrained(tmp_path / "saved")
    about = json.loads((tmp_path / "saved" / "task.json").read_text("utf-8"))
    (tmp_path / "saved" / "task.json").write_text(json.dumps(about | {"labels": None}), encoding="utf-8")
    with pytest.raises(CheckpointError, match="task.json does not say which labels there are"):
        load(tmp_path / "saved")
