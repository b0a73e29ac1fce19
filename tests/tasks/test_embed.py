import json
import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tests.runs import Heard, command

from sublayer.data.rows import Row
from sublayer.errors import CheckpointError, ConfigError, DataError
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.nearest import Nearest
from sublayer.tasks.pairs import alike, contrast, regress
from sublayer.tasks.recipe_file import make_recipe

TOPICS = ["cat kitten purr", "hammer nail saw", "rain storm wind", "bread oven flour"]
SMALL = dict(d_model=16, num_heads=2, encoder_layers=1, d_ff=32, dropout=0.0)
TRAIN = dict(steps=60, batch_tokens=256, warmup=5, learning_rate=1e-2, validate_every=30, save_every=60, log_every=30)


def text(draw, topic):
    words = draw.choices("the a my our one".split(), k=draw.randint(1, 4)) + draw.choices(TOPICS[topic].split(), k=2)
    draw.shuffle(words)
    return " ".join(words)


def files(folder, scored):
    draw = random.Random(0)
    for name, size in (("train", 120), ("valid", 24)):
        lines = []
        for _ in range(size):
            a = draw.randrange(4)
            b = draw.choice([a, draw.randrange(4)]) if scored else a
            lines.append(f"{text(draw, a)}\t{text(draw, b)}" + (f"\t{5 if a == b else 1}" if scored else ""))
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: str(folder / f"{name}.tsv") for name in ("train", "valid")}


def trained(folder, *, scored=True, train=None, model=None, **sections):
    values = {"task": "embed", "data": files(folder, scored), "model": SMALL | (model or {})}
    values |= {"train": TRAIN | (train or {})} | sections
    heard = Heard()
    return fit(make_recipe(values, origin="a test"), folder / "run", heard), heard


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embed")
    trained(folder)
    return folder / "run"


@pytest.fixture(scope="module")
def task(run):
    return load(run)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """One that reads ten tokens at a time."""
    folder = tmp_path_factory.mktemp("short")
    return trained(folder, model={"position": "learned", "max_len": 10}, train={"steps": 30})[0]


def test_it_learns_what_is_alike(task):
    a, b, c, nothing = task.predict(["the kitten", "my cat cat", "a hammer", " "])
    assert a @ b > 0.8 and a @ c < 0.6 and not nothing.any()
    assert a.shape == (16,) and float(a.norm()) == pytest.approx(1)


def test_it_learns_from_pairs_without_scores(tmp_path):
    task, heard = trained(tmp_path, scored=False)
    assert [r["valid_retrieval"] for r in heard.records if "valid_retrieval" in r]
    assert task.metrics == ("retrieval",) and task.vectors.highest is None
    a, b, c = task.predict(["the kitten", "my cat cat", "a hammer"])
    assert a @ b > a @ c + 0.3


def test_what_a_text_gets_depends_on_itself_alone(task):
    texts = [text(random.Random(i), i % 4) for i in range(40)] + ["word " * 60 + "cat", "", "cat"]
    together = torch.stack(list(task.predict(texts)))
    for window in (1, 7):
        torch.testing.assert_close(torch.stack(list(task.predict(texts, window=window))), together)
    turned = torch.stack(list(task.predict(texts[::-1])))
    torch.testing.assert_close(turned.flip(0), together)
    torch.testing.assert_close(torch.stack(list(task.for_inference().predict(texts))), together)


def test_it_streams(task):
    taken = []
    stream = task.predict((taken.append(1) or "a cat" for _ in iter(int, 1)), window=4)
    assert len([next(stream) for _ in range(6)]) == 6 and len(taken) == 8


def test_inference_draws_nothing_and_is_the_same_twice(tmp_path):
    task, _ = trained(tmp_path, train={"steps": 2}, model={"dropout": 0.5, "attention_dropout": 0.5})
    state = torch.get_rng_state()
    task.model.train()
    first, second = (torch.stack(list(task.predict(["a cat", "rain"]))) for _ in range(2))
    assert first.equal(second) and torch.get_rng_state().equal(state)


def test_a_long_text_is_the_weighed_mean_of_its_windows(short):
    words = "cat kitten purr hammer nail saw rain storm wind bread oven flour the a".split()
    told = []
    (whole,) = short.predict([" ".join(words)], tell=told.append)
    (read,) = short.readings([" ".join(words)], cut=False)
    assert told == ["line 1: 14 tokens, read in 3 windows"]
    assert all(len(ids) <= 10 for ids in read.windows) and sum(read.weights) == 14
    parts = torch.stack([vector for _, vector in sorted(short.outputs(read.windows))])
    expected = F.normalize((parts * torch.tensor(read.weights)[:, None]).sum(0), dim=0)
    torch.testing.assert_close(whole, expected)
    (fits,) = short.readings([" ".join(words[:8])], cut=False)
    assert len(fits.windows) == 1 and not fits.is_long


def test_cut_is_the_beginning_and_is_told(short):
    words = "cat kitten purr hammer nail saw rain storm wind bread oven flour".split()
    told = []
    texts = ["cat", " ".join(words)]
    _, cut = short.predict(texts, cut=True, tell=told.append)
    torch.testing.assert_close(cut, next(short.predict([" ".join(words[:8])])))
    assert told == ["line 2: 12 tokens, the last 4 left out"]


def test_long_texts_are_learned_from(short, tmp_path):
    row = Row(("cat " * 20, "kitten", "5"), 1)
    ((first, second, score),) = short.encode_pairs([row])
    assert len(first.windows) > 1 and score == 1
    vectors = short.embedded(short.model.eval(), [first, second])
    torch.testing.assert_close(vectors, torch.stack(list(short.predict(row.cells[:2]))))


def test_what_pairs_cost():
    loss = regress(torch.tensor([0.5, 1.0]), torch.tensor([1.0, 0.0]))
    assert (float(loss.total), loss.count) == (1.25, 2)
    first, second = torch.eye(2) * 3, torch.eye(2)
    expected = -torch.tensor([2.0, 0.0]).log_softmax(0)[0]
    none = torch.zeros(2, 2, dtype=torch.bool)
    assert float(contrast(first, second, none, 2.0).mean) == pytest.approx(float(expected))
    assert float(contrast(first, second, ~torch.eye(2, dtype=torch.bool), 2.0).mean) == 0
    assert alike([("a", "x"), ("b", "x"), ("a", "y")]).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]


def test_scores_are_those_of_the_cosines(run, task):
    rows = [row.split("\t") for row in (run.parent / "valid.tsv").read_text("utf-8").splitlines()]
    scores = json.loads(command("evaluate", run, run.parent / "valid.tsv", "--json", "--bootstrap", 10).out)
    assert list(scores) == ["spearman", "pearson"] and scores["spearman"]["value"] > 60
    a, b = (torch.stack(list(task.predict([row[side] for row in rows]))) for side in (0, 1))
    cosines, right = (a * b).sum(-1).numpy(), np.array([float(row[2]) for row in rows])
    assert scores["pearson"]["value"] == pytest.approx(100 * np.corrcoef(cosines, right)[0, 1], abs=1e-4)
    said = command("evaluate", run, run.parent / "valid.tsv", "--metric", "loss", "--json", "--bootstrap", 0)
    expected = ((cosines - (right - 1) / 4) ** 2).mean()
    assert json.loads(said.out)["loss"]["value"] == pytest.approx(expected, abs=1e-5)


def test_retrieval_counts_every_partner(task):
    rows = [Row(cells, i) for i, cells in enumerate([("the cat", "cat"), ("the cat", "kitten"), ("saw", "hammer")])]
    (score, loss) = task.evaluate(rows, ["retrieval", "loss"])
    assert score.value == 100 and score.count == 3 and loss.unit == "pairs"
    with pytest.raises(ConfigError, match="spearman: these are pairs without scores. Of such there is --metric retri"):
        task.evaluate(rows, ["spearman"])


def test_answers_as_lines(run, tmp_path):
    plain = command("predict", run, stdin=b"a cat\n\nsaw\n").out.split("\n")
    assert [len(each.split("\t")) for each in plain] == [16, 1, 16, 1]
    records = [json.loads(each) for each in command("predict", run, "--json", stdin=b"a cat\n\nsaw\n").out.splitlines()]
    assert records[0]["vector"] == [float(x) for x in plain[0].split("\t")]
    assert records[1] == {"line": 2, "tokens": 0, "windows": 0, "left_out": 0, "vector": []}
    said = command("predict", run, "--npy", tmp_path / "v.npy", stdin=b"a cat\n\nsaw\n")
    assert said == (0, "", "") and {path.name for path in tmp_path.iterdir()} == {"v.npy"}
    held = np.load(tmp_path / "v.npy")
    assert held.shape == (3, 16) and held[0].tolist() == pytest.approx(records[0]["vector"]) and not held[1].any()
    assert command("predict", run, stdin=b"") == (0, "", "")


def test_the_nearest_of_a_file(run, task, tmp_path):
    (tmp_path / "texts.txt").write_text("the hammer\n\nmy kitten\nrain\n", encoding="utf-8")
    search = ("predict", run, "--nearest", tmp_path / "texts.txt")
    assert command(*search, stdin=b"a cat\n\nsaw\n").out == "my kitten\n\nthe hammer\n"
    rows = [each.split("\t") for each in command(*search, "--nbest", 2, stdin=b"a cat\n\n").out.splitlines()]
    assert [(n, found) for n, _, found in rows][::2] == [("1", "my kitten"), ("2", "")] and len(rows) == 3
    first, empty = map(json.loads, command(*search, "--json", stdin=b"a cat\n\n").out.splitlines())
    assert first["nearest"][0]["line"] == 3 and empty["nearest"] == []
    (found,) = Nearest(task, ["the hammer", "", "my kitten"]).search(["a cat"], 5)
    assert [each.line for each in found] == [3, 1]
    assert found[0].score == pytest.approx(first["nearest"][0]["score"])
    with pytest.raises(DataError, match="nothing to search in"):
        Nearest(task, ["", " "])


def test_the_run_folder_is_loaded_again(run, task, tmp_path):
    task.save_pretrained(tmp_path / "saved")
    assert next(load(tmp_path / "saved").predict(["a dog"])).equal(next(task.predict(["a dog"])))
    about = json.loads((tmp_path / "saved" / "task.json").read_text("utf-8"))
    (tmp_path / "saved" / "task.json").write_text(json.dumps(about | {"vectors": {"pol": 1}}), encoding="utf-8")
    with pytest.raises(CheckpointError, match="task.json does not say what vectors there are"):
        load(tmp_path / "saved")
    assert "vectors: 16 numbers, of length 1\n" in command("show", run, "--text", "a cat").out


@pytest.mark.parametrize("vector", [{"pool": "max", "normalize": False}, {"pool": "first"}])
def test_other_vectors(tmp_path, vector):
    task, _ = trained(tmp_path, train={"steps": 4}, vector=vector)
    (found,) = load(tmp_path / "run").predict(["a cat and a dog"])
    assert found.equal(next(task.predict(["a cat and a dog"])))
    assert (float(found.norm()) == pytest.approx(1)) is vector.get("normalize", True)


def test_what_cannot_be(run, tmp_path):
    for options, words in (
        (("--nbest", 2), "A text has one vector"),
        (("--stream",), "--stream is for runs of task translate, and this one holds a Embed"),
        (("--npy", "x", "--json"), "--npy does not go together with --json"),
    ):
        said = command("predict", run, *options, stdin=b"a\n")
        assert (said.code, said.out) == (2, "") and words in said.err
    (tmp_path / "bad.tsv").write_text("a\tb\tx\nc\td\t1\ne\tf\tnan\n", encoding="utf-8")
    said = command("train", "--task", "embed", "--train", tmp_path / "bad.tsv", "--out", tmp_path / "run")
    assert said.code == 2 and "Scores that are no numbers:\n  - line 1: 'x'\n  - line 3: 'nan'" in said.err
    (tmp_path / "one.tsv").write_text("a\tb\t1\nc\td\t1\n", encoding="utf-8")
    said = command("train", "--task", "embed", "--train", tmp_path / "one.tsv", "--out", tmp_path / "run")
    assert said.code == 2 and "nothing to tell apart: every score is 1" in said.err
