import json
import math

import pytest
import torch
from tests.runs import Heard, command

from sublayer.data.text import read_plain
from sublayer.errors import CheckpointError, ConfigError, DataError
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe
from sublayer.tasks.search import Search

SMALL = dict(d_model=32, num_heads=2, decoder_layers=1, d_ff=64, dropout=0.0)
TRAIN = dict(steps=150, context=16, batch_tokens=128, warmup=10, validate_every=75, save_every=150, log_every=50)
GREEDY = Search(max_ratio=0, max_extra=30)


def trained(folder, *, text=None, model=None, **train):
    (folder / "train.txt").write_text("the cat sat on the mat.\n" * 60, encoding="utf-8")
    (folder / "valid.txt").write_text("the cat sat on the mat.\n" * 8, encoding="utf-8")
    values = {
        "task": "complete",
        "data": {name: str(folder / f"{name}.txt") for name in ("train", "valid")},
        "text": text or {"kind": "char"},
        "model": SMALL | (model or {}),
        "train": TRAIN | train,
    }
    heard = Heard()
    return fit(make_recipe(values, origin="a test"), folder / "run", heard), heard


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("complete")
    trained(folder)
    return folder / "run"


@pytest.fixture(scope="module")
def task(run):
    return load(run)


def test_it_goes_on_as_it_was_taught_far_beyond_its_window(task):
    (found,) = next(task.predict(["the cat sat"], search=Search(max_ratio=0, max_extra=61)))
    assert ("the cat sat" + found.text).startswith("the cat sat on the mat.\nthe cat sat on the mat.\nthe cat sat on")
    assert len(found.tokens) == 61 > task.context and not found.finished


def test_the_run_is_whole_and_says_what_it_measured(run, task):
    (first,) = next(task.predict([""], search=GREEDY))
    assert first.text.startswith("the cat sat on the mat.\nthe")  # a prompt stands at the beginning of a line
    names = {path.name for path in run.iterdir()}
    assert names >= {"recipe.yaml", "config.json", "model.safetensors", "tokenizer.json", "task.json", "samples"}
    assert (run / "samples" / "valid.txt").read_text("utf-8")
    items = read_plain([run.parent / "valid.txt"]).items
    loss, perplexity, bits = task.evaluate(items, ["loss", "perplexity", "bits_per_character"])
    assert loss.count == 8 * 24  # every character but the first, and </s>
    assert perplexity.value == pytest.approx(math.exp(loss.value))
    assert bits.value == pytest.approx(loss.value * loss.count / (8 * 24) / math.log(2))
    assert bits.value < 1 and loss.signature == "loss|char tokens|context:16"
    said = command("evaluate", run, run.parent / "valid.txt")
    assert said.out.splitlines() == [str(score) for score in (loss, perplexity, bits)]


def test_the_loss_is_that_of_windows_read_one_by_one(task):
    items = read_text_of("the cat\nsat on a mat, the cat.\n")
    (loss,) = task.evaluate(items, ["loss"])
    ids = task.encode(items)
    total = 0.0
    with torch.no_grad():
        for at in range(0, len(ids) - 1, 16):
            window = torch.tensor([ids[at : at + 17]])
            logp = task.model(window[:, :-1]).log_softmax(-1)
            total -= float(logp.gather(-1, window[:, 1:, None]).sum())
    assert loss.value == pytest.approx(total / (len(ids) - 1), abs=1e-5)


def read_text_of(text):
    from sublayer.data.text import Line

    return [Line(line, 0, n) for n, line in enumerate(text.split("\n")[:-1], 1)]


def test_what_a_prompt_gets_depends_on_itself_alone(task):
    prompts = ["the", "a cat", "", "mat.", "the cat sat on the mat, the cat sat", "the"]
    for search in (GREEDY, Search(max_ratio=0, max_extra=30, temperature=0.9, top_k=5)):
        together = [found[0] for found in task.predict(prompts, search=search)]
        assert together[0] == together[-1]
        for window, order in ((1, prompts), (4, prompts[::-1])):
            alone = [found[0] for found in task.predict(order, search=search, window=window)]
            alone = alone if order is prompts else alone[::-1]
            assert [a.text for a in alone] == [a.text for a in together]
            assert [a.logp for a in alone] == pytest.approx([a.logp for a in together], abs=1e-4)
    fast = [found[0].text for found in task.for_inference().predict(prompts, search=GREEDY)]
    assert fast == [found[0].text for found in task.predict(prompts, search=GREEDY)]


def test_a_stream_is_the_text_piece_by_piece(task):
    (found,) = next(task.predict(["the cat"], search=GREEDY))
    pieces = list(task.stream("the cat", search=GREEDY))
    assert "".join(pieces) == found.text and len(pieces) == 30
    drawn = Search(max_ratio=0, max_extra=30, temperature=1.5, seed=3)
    assert "".join(task.stream("x", search=drawn)) == next(task.predict(["x"], search=drawn))[0].text
    until = GREEDY.model_copy(update={"stop_strings": ["."]})
    assert "".join(task.stream("the cat", search=until)) == next(task.predict(["the cat"], search=until))[0].text
    with pytest.raises(ConfigError, match="search.beam: an answer that is shown while it is written is the only one"):
        list(task.stream("the", search=Search(beam=2)))
    with pytest.raises(ConfigError, match="search.replace_unknown is for answers with a source"):
        list(task.predict(["the"], search=Search(replace_unknown=True)))


def test_answers_as_lines_stay_lines(run):
    greedy = ("--set", "search.temperature=0", "--set", "search.max_extra=20")
    said = command("predict", run, *greedy, stdin=b"the cat sat on\n\n")
    first, empty = said.out.splitlines()
    assert first.startswith(r" the mat.\nthe cat") and said.err == ""
    (answer,) = json.loads(command("predict", run, *greedy, "--json", stdin=b"the cat sat on\n").out)["answers"]
    assert answer["text"] == first.replace(r"\n", "\n")
    until = command("predict", run, *greedy, "--set", "search.stop_strings=[.]", stdin=b"the cat sat on\n")
    assert until.out == " the mat\n"
    drawn = command("predict", run, "--nbest", 3, "--set", "search.max_extra=5", stdin=b"the\n").out.splitlines()
    assert [line.split("\t")[0] for line in drawn] == ["1", "1", "1"]


def test_other_verbs(run):
    said = command("show", run, "--text", "the cat")
    assert said.code == 0 and "context: 16 tokens\n" in said.out and "CausalLM" in said.out
    said = command("train", "--resume", "--out", run)
    assert said.code == 0 and "Nothing is left to do: the run ended at step 150." in said.err


@pytest.mark.parametrize(
    "settings",
    [
        {"text": {"kind": "bpe", "vocab_size": 270}, "model": {"position": "sinusoidal"}},
        {"model": {"position": "learned", "max_len": 4, "tie": "none"}},  # max_len grows to the context
    ],
)
def test_other_parts_train_and_are_loaded_again(tmp_path, settings):
    task, heard = trained(tmp_path, steps=30, validate_every=15, **settings)
    losses = [record["valid_loss"] for record in heard.records if "valid_loss" in record]
    assert losses[-1] < losses[0]
    again = load(tmp_path / "run")
    assert list(again.predict(["the cat", "x" * 40])) == list(task.predict(["the cat", "x" * 40]))
    assert "".join(task.stream("the")) == next(task.predict(["the"]))[0].text  # no character is torn


def test_what_cannot_be_is_told(run, tmp_path):
    task = load(run)
    with pytest.raises(ConfigError, match="unknown metric 'bleu'"):
        task.evaluate(read_text_of("a\n"), ["bleu"])
    with pytest.raises(DataError, match="the text is empty"):
        task.evaluate([], ["loss"])
    with pytest.raises(
        ConfigError, match="train.stretch_positions: there is no such key. It belongs to task translate"
    ):
        make_recipe({"task": "complete", "train": {"stretch_positions": 1}}, origin="o")
    task.save_pretrained(tmp_path / "saved")
    about = json.loads((tmp_path / "saved" / "task.json").read_text("utf-8"))
    (tmp_path / "saved" / "task.json").write_text(json.dumps(about | {"context": "x"}), encoding="utf-8")
    with pytest.raises(CheckpointError, match="context is 'x', expected a number of tokens"):
        load(tmp_path / "saved")
