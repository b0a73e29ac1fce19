import json
import random

import pytest
import torch
from tests.runs import Heard, command

from sublayer.data.conll import Sentence, read_conll
from sublayer.errors import CheckpointError, ConfigError, DataError
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

SMALL = dict(d_model=32, num_heads=2, encoder_layers=1, d_ff=32, dropout=0.0)
TRAIN = dict(
    steps=200, batch_tokens=128, warmup=5, learning_rate=1e-2, validate_every=100, save_every=200, log_every=100
)


def sentence(draw):
    """`fly from new york to rome`: BIO spans, whose I- can only be told by what stands before."""
    parts = [(draw.choice(["fly", "go", "run"]), "O")]
    for side in draw.sample(["from", "to"], draw.randint(1, 2)):
        city = draw.choice([["new", "york"], ["rome"], ["york"], ["lima"]])
        parts += [(side, "O"), *((word, f"{'I' if i else 'B'}-{side}") for i, word in enumerate(city))]
    return parts


def trained(folder, *, text=None, model=None, **train):
    draw = random.Random(0)
    for name, size in (("train", 120), ("valid", 25)):
        lines = ("".join(f"{word}\t{tag}\n" for word, tag in sentence(draw)) for _ in range(size))
        (folder / f"{name}.conll").write_text("\n".join(lines), encoding="utf-8")
    values = {
        "task": "tag",
        "data": {name: str(folder / f"{name}.conll") for name in ("train", "valid")},
        "text": text or {},
        "model": SMALL | (model or {}),
        "train": TRAIN | train,
    }
    heard = Heard()
    return fit(make_recipe(values, origin="a test"), folder / "run", heard), heard


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tag")
    trained(folder)
    return folder / "run"


@pytest.fixture(scope="module")
def task(run):
    return load(run)


def test_it_learns_spans_that_only_their_neighbours_tell(task):
    found, other = task.predict(["go to new york", "run from york"])
    assert found.tags == ("O", "O", "B-to", "I-to") and found.spans == (("to", 2, 4),)
    assert other.tags == ("O", "O", "B-from") and other.spans == (("from", 2, 3),)
    assert len(found.scores) == 4 and all(0.4 < score <= 1 for score in found.scores)
    assert task.metrics == ("accuracy", "span_f1", "loss", "per_class")


def test_the_run_is_whole_and_is_loaded_again(run, task, tmp_path):
    names = {path.name for path in run.iterdir()}
    assert names >= {"recipe.yaml", "config.json", "model.safetensors", "tokenizer.json", "task.json", "samples"}
    rows = (run / "samples" / "valid.tsv").read_text("utf-8").split("\n")
    held = read_conll(run.parent / "valid.conll").items
    assert [row.split("\t")[0] for row in rows[: len(held[0].words)]] == list(held[0].words)
    assert rows[len(held[0].words)] == ""
    task.save_pretrained(tmp_path / "saved")
    assert list(load(tmp_path / "saved").predict(["go to rome"])) == list(task.predict(["go to rome"]))


def test_what_a_sentence_gets_depends_on_itself_alone(task):
    draw = random.Random(5)
    inputs = [[word for word, _ in sentence(draw)] for _ in range(20)] + [[], ["rome"] * 40, ["unseen"]]
    together = list(task.predict(inputs))
    assert [len(found.tags) for found in together] == [len(words) for words in inputs]
    for window, order in ((1, inputs), (5, inputs[::-1])):
        alone = list(task.predict(order, window=window))
        alone = alone if order is inputs else alone[::-1]
        for a, b in zip(alone, together, strict=True):
            assert a.tags == b.tags and a.scores == pytest.approx(b.scores, abs=1e-5)
    fast = list(task.for_inference().predict(inputs))
    assert [found.tags for found in fast] == [found.tags for found in together]


def test_scores_are_those_of_the_answers(run, task):
    held = read_conll(run.parent / "valid.conll").items
    found = list(task.predict(item.words for item in held))
    pairs = [(a, b) for item, f in zip(held, found, strict=True) for a, b in zip(item.tags, f.tags, strict=True)]
    scores = json.loads(command("evaluate", run, run.parent / "valid.conll", "--json", "--bootstrap", 10).out)
    assert list(scores) == ["span_f1", "accuracy", "loss", "f1:from", "f1:to"]
    assert scores["accuracy"]["value"] == pytest.approx(100 * sum(a == b for a, b in pairs) / len(pairs))
    assert scores["loss"]["count"] == len(pairs) and 0 <= scores["loss"]["value"] < 0.7


def test_lines_and_columns_come_back_as_they_came(run):
    said = command("predict", run, stdin=b"go to rome\n\nfly\n")
    assert said.out.split("\n") == ["O O B-to", "", "O", ""]
    columns = command("predict", run, stdin=b"go\tx\nto\n\n\nfly\t\n")
    assert columns.out.split("\n") == ["go\tO", "to\tO", "", "", "fly\tO", ""]
    assert command("predict", run, stdin=b"") == (0, "", "")
    scored = command("predict", run, "--scores", stdin=b"go to rome\n").out.split()
    assert [cell.split(":")[0] for cell in scored] == ["O", "O", "B-to"]
    record = json.loads(command("predict", run, "--json", stdin=b"go to rome\n").out)
    assert record["words"] == ["go", "to", "rome"] and record["spans"] == [{"kind": "to", "start": 2, "end": 3}]
    for options in (("--nbest", 2), ("--beam", 2)):
        said = command("predict", run, *options, stdin=b"go\n")
        assert said.code == 2 and said.out == ""


def test_the_first_piece_of_a_word_speaks_for_it(tmp_path):
    task, heard = trained(tmp_path, text={"kind": "bpe", "vocab_size": 270}, steps=20, validate_every=10)
    losses = [record["valid_loss"] for record in heard.records if "valid_loss" in record]
    assert losses[-1] < losses[0]
    (window,) = task.windows(["new", "york"])
    pieces = task.tokenizer.encode_words(["new", "york"])
    assert window.ids == [task.tokenizer.bos, *pieces[0], *pieces[1], task.tokenizer.eos]
    assert window.places == [1, 1 + len(pieces[0])] and len(pieces[0]) > 1
    (found,) = task.predict([["new", "york"]])
    logits = task.model(torch.tensor([window.ids])).log_softmax(-1)[window.places].max(-1)
    assert found.tags == tuple(task.tags[i] for i in logits.indices)
    assert found.scores == pytest.approx(logits.values.exp().tolist(), abs=1e-5)


def test_long_sentences_go_through_windows_and_every_word_is_tagged(tmp_path):
    task, _ = trained(tmp_path, model={"position": "learned", "max_len": 8}, steps=10)
    words = ["go", "to", "rome", "from", "york"] * 9
    (found,) = task.predict([words])
    assert len(found.tags) == 45
    parts = task.windows(words)
    assert [i for part in parts for i in part.words] == list(range(45)) and max(len(p.ids) for p in parts) <= 8
    for part in parts:  # each word has the tag that it gets in the window that answers for it
        logits = task.model(torch.tensor([[[*bag, *[0] * (40 - len(bag))] for bag in part.ids]]))
        assert [found.tags[i] for i in part.words] == [task.tags[i] for i in logits[part.places].argmax(-1)]
    assert len(task.evaluate([Sentence(tuple(words), ("O",) * 45, 1)], ["accuracy"])) == 1


def test_what_cannot_be_is_told(run, task, tmp_path):
    with pytest.raises(DataError, match="does not know:\n  - sentence in line 4: 'B-form'. Did you mean 'B-from'"):
        task.evaluate([Sentence(("a",), ("B-form",), 4)], ["accuracy"])
    with pytest.raises(DataError, match="0 sentences"):
        task.evaluate([], ["accuracy"])
    with pytest.raises(ConfigError, match="head: there is no such key. It belongs to task classify"):
        make_recipe({"task": "tag", "head": {"pool": "max"}}, origin="o")
    (tmp_path / "one.conll").write_text("a\tX\nb\tX\n", encoding="utf-8")
    recipe = make_recipe({"task": "tag", "data": {"train": str(tmp_path / "one.conll")}}, origin="o")
    with pytest.raises(DataError, match=r"nothing to tell apart: the tags are \['X'\]"):
        fit(recipe, tmp_path / "run", Heard())
    task.save_pretrained(tmp_path / "saved")
    about = json.loads((tmp_path / "saved" / "task.json").read_text("utf-8"))
    (tmp_path / "saved" / "task.json").write_text(json.dumps(about | {"tags": None}), encoding="utf-8")
    with pytest.raises(CheckpointError, match="does not say which tags there are"):
        load(tmp_path / "saved")
