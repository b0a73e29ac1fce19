"""Published models that fill blanks and answer questions, as they are and tuned."""

import pytest
import torch
from tests import published
from tests.runs import Heard, command

import sublayer
from sublayer.tasks.answer import Answer
from sublayer.tasks.fill import Fill
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe
from sublayer.tasks.sections import Published, Train
from sublayer.tasks.starting import read, with_head

WORDS = "a cat sits on the mat and who ? ##s".split()


@pytest.fixture
def filling(tmp_path, perturb):
    return published.bert(tmp_path / "theirs", WORDS, perturb=perturb)


@pytest.fixture
def answering(tmp_path, perturb):
    return published.bert(tmp_path / "theirs", WORDS, "BertForQuestionAnswering", perturb=perturb)


def test_a_masked_language_model_fills_as_it_is(tmp_path, filling):
    task = sublayer.from_pretrained(tmp_path / "theirs")
    assert isinstance(task, Fill) and task.spelled == "[MASK]"
    ids = task.blanked("the [MASK] sits")
    assert ids == [2, 9, 4, 7, 3]
    with torch.inference_mode():
        p = filling.model(torch.tensor([ids]))[2].softmax(-1)
    (found,) = task.predict(["the [MASK] sits"], n=len(WORDS))
    given = {guess.token: guess.probability for guess in found.blanks[0]}
    assert given == pytest.approx({word: float(p[5 + i]) for i, word in enumerate(WORDS)}, abs=1e-6)
    assert command("predict", tmp_path / "theirs", stdin=b"the [MASK] sits\n").out == f"{found.text}\n"
    (tmp_path / "text.txt").write_text("the cat sits\n", encoding="utf-8")
    assert command("evaluate", tmp_path / "theirs", tmp_path / "text.txt").out.startswith("accuracy ")


def test_it_goes_back_and_becomes_a_run_folder(tmp_path, filling):
    task = sublayer.from_pretrained(tmp_path / "theirs")
    task.save_pretrained(tmp_path / "again")
    assert list(sublayer.load(tmp_path / "again").predict(["the [MASK]"])) == list(task.predict(["the [MASK]"]))
    assert command("import", tmp_path / "theirs", tmp_path / "ours").code == 0
    assert list(sublayer.load(tmp_path / "ours").predict(["the [MASK]"])) == list(task.predict(["the [MASK]"]))


def test_a_model_of_spans_answers_as_it_is(tmp_path, answering):
    task = sublayer.from_pretrained(tmp_path / "theirs")
    assert isinstance(task, Answer)
    ((passage,),) = task.passages([("who sits ?", "the cats on a mat")], [1])
    read = task.tokenizer.inputs("who sits ?", "the cats on a mat")
    assert passage.ids == read.ids and task.segments([read.ids]) == [read.types]
    with torch.inference_mode():
        logits = answering.model(torch.tensor([read.ids]), types=torch.tensor([read.types]))
    begin, end = logits.unbind(-1)
    best = max(float(begin[i] + end[j] - begin[0] - end[0]) for i in range(5, 11) for j in range(i, 11))
    found = max(a.score for (several,) in [task.predict([("who sits ?", "the cats on a mat")], n=9)] for a in several)
    assert found == pytest.approx(max(best, 0.0), abs=1e-5)
    assert command("predict", tmp_path / "theirs", stdin=b"who ?\tthe cats\n").code == 0


def test_tuning_keeps_a_head_of_the_same_kind(tmp_path, filling):
    about = Published.model_validate({"from": str(tmp_path / "theirs")})
    model, config, words, _ = with_head(read(about, "encoder"), about, "masked-lm", Train())
    ids = torch.tensor([[2, 9, 4, 7, 3]])
    torch.testing.assert_close(model.eval()(ids), filling.model(ids))
    assert config.head.kind == "none" and words.mask == 4
    other = with_head(read(about, "encoder"), about, "span", Train())[0].eval()
    torch.testing.assert_close(other.body(ids), filling.model.body(ids))


@pytest.mark.parametrize(("task", "lines", "asked"), [
    ("fill", "the cat sits\na mat and a cat\n", "the [MASK]"),
    ("answer", "who ?\tthe cats on a mat\tcats\t4\nwho ?\ta mat\t\t-1\n", "who ?\tthe cats"),
    ("embed", "the cat\ta cat\t5\nthe mat\ta cat\t0\n", "the cats"),
])  # fmt: skip
def test_each_is_tuned_and_loaded_again(tmp_path, filling, task, lines, asked):
    (tmp_path / "train.txt").write_text(lines, encoding="utf-8")
    values = {"task": task, "data": {"train": str(tmp_path / "train.txt")}, "train": {"steps": 2, "log_every": 1}}
    values |= {"model": {"from": str(tmp_path / "theirs")}}
    made = fit(make_recipe(values, origin="a test"), tmp_path / "run", Heard())
    a, b = next(made.predict([asked])), next(sublayer.load(tmp_path / "run").predict([asked]))
    assert a.equal(b) if task == "embed" else a == b
    assert not made.model.body.embed.tokens.weight.equal(filling.model.body.embed.tokens.weight)
    if task != "embed":
        said = command("export", tmp_path / "run", "--to", "hf", "--out", tmp_path / "out")
        assert said.code == 0 and "read again with equal outputs" in said.out + said.err
