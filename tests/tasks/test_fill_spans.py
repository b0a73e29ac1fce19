import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from tests import published
from tests.runs import Heard, command

from sublayer.data.text import Line
from sublayer.errors import ConfigError, DataError
from sublayer.evaluate.blanks import Spans, of_spans
from sublayer.generate import Hypothesis
from sublayer.inspect import AttentionPicture
from sublayer.interop.t5 import T5
from sublayer.serve.doors import door
from sublayer.serve.limits import Limits
from sublayer.tasks.attend import picture
from sublayer.tasks.blanks import SENTINELS, span_behind
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe
from sublayer.tasks.spans import FillSpans

SMALL = dict(d_model=32, num_heads=2, encoder_layers=1, decoder_layers=1, d_ff=64, dropout=0.0, tie="all")
TRAIN = dict(steps=300, batch_tokens=256, warmup=10, learning_rate=1e-2, masked=0.5, span=2, log_every=75)
SAID = ("the cat purrs at night", "the big dog barks out all day long")


def trained(folder, *, train=None, model=None, text=None):
    (folder / "text.txt").write_text("\n".join(SAID * 10) + "\nalone\n\n", encoding="utf-8")
    data = {"train": str(folder / "text.txt"), "valid": str(folder / "text.txt")}
    values = {"task": "fill", "data": data, "train": TRAIN | (train or {})}
    values |= {"model": {"architecture": "encoder-decoder"} | SMALL} if model is None else {"model": model}
    values |= {} if text is None else {"text": text}
    return fit(make_recipe(values, origin="a test"), folder / "run", Heard())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spans")
    trained(folder, text={"kind": "word"}, train={"validate_every": 300, "save_every": 300})
    return folder / "run"


@pytest.fixture(scope="module")
def task(run):
    return load(run)


def test_spans_of_several_words_are_filled(task):
    cat, both, whole, empty = task.predict(["the cat purrs [MASK]", "the [MASK] barks [MASK] day long", "the cat", ""])
    assert (cat.text, both.text) == ("the cat purrs at night", "the big dog barks out all day long")
    assert cat.blanks[0][0].token == "at night" and cat.blanks[0][0].probability > 0.5
    assert len({guess.token for guess in cat.blanks[0]}) == len(cat.blanks[0]) > 1
    assert (whole.text, whole.blanks, empty.text) == ("the cat", (), "")


def test_what_a_text_gets_depends_on_itself_alone(task):
    texts = ["the cat [MASK]", "[MASK] dog", "", "the [MASK] purrs [MASK] night"]
    alone = [next(task.predict([text])) for text in texts]
    for order in (texts, texts[::-1]):
        found = list(task.predict(order, window=3))
        assert [f.text for f in found] == [alone[texts.index(text)].text for text in order]


def test_one_n_asks_for_no_other_answer(task):
    assert [next(task.predict(["the [MASK] at night"], n=n)).text for n in (1, 3, 5)] == ["the cat purrs at night"] * 3


def test_scores_by_hand(task):
    """A span is right where each of its tokens and what ends it are likeliest."""
    lines = [Line(text, 0, n) for n, text in enumerate([*SAID, "a b c d e"], 1)]
    accuracy, loss, perplexity = task.evaluate(lines, ["accuracy", "loss", "perplexity"])
    random, right, spans, nll, tokens = np.random.default_rng(1), 0, 0, 0.0, 0
    for ids in task.encode_lines(lines):
        source, target = task.corrupted(ids, random)
        row = torch.tensor([[*source, task.source.eos]]), torch.tensor([[task.source.bos, *target]])
        with torch.inference_mode():
            logp = task.model(*row)[0].log_softmax(-1)
        said = [*target, task.source.eos]
        nll, tokens = nll - sum(float(logp[i, id]) for i, id in enumerate(said)), tokens + len(said)
        starts = [i for i, id in enumerate(target) if id in task.sentinels]
        for start, end in zip(starts, starts[1:], strict=False):
            right += all(int(logp[i].argmax()) == said[i] for i in range(start + 1, end + 1))
            spans += 1
    assert (accuracy.value, accuracy.count, accuracy.unit) == (pytest.approx(100 * right / spans), spans, "spans")
    assert (loss.value, loss.count) == (pytest.approx(nll / tokens, rel=1e-4), tokens)
    assert perplexity.value == pytest.approx(math.exp(loss.value)) and 0 < right < spans
    assert "spans:50% of 2|seed:1|word tokens" in loss.signature
    with pytest.raises(ConfigError, match="unknown metric 'pseudo_perplexity'"):
        task.evaluate(lines, ["pseudo_perplexity"])
    with pytest.raises(DataError, match="nothing to evaluate: no line has two tokens"):
        task.evaluate([Line("alone", 0, 1)], ["loss"])


def test_scores_of_rows():
    found = of_spans([Spans(1, 2, 3.0, 4), Spans(1, 1, 1.0, 4)], "s", bootstrap=20)
    assert found["accuracy"].value == pytest.approx(200 / 3) and found["accuracy"].interval is not None
    assert found["loss"].value == 0.5 and found["perplexity"].value == pytest.approx(math.exp(0.5))


def test_what_stands_behind_a_sentinel():
    answer = Hypothesis((90, 5, 6, 91, 92), -3.5, -3.5, (-0.1, -0.5, -1.0, -0.25, -0.5, -1.15), True)
    marks = [90, 91, 92, 93]
    assert span_behind(90, answer, marks) == ((5, 6), pytest.approx(math.exp(-1.75)))
    assert span_behind(91, answer, marks) == ((), pytest.approx(math.exp(-0.5)))
    assert span_behind(92, answer, marks) == ((), pytest.approx(math.exp(-1.15)))
    assert span_behind(93, answer, marks) == ((), 0.0)


def test_the_verbs(run, task, tmp_path):
    asked = b"the cat purrs [MASK]\n\n"
    assert command("predict", run, stdin=asked).out == "the cat purrs at night\n\n"
    rows = [line.split("\t") for line in command("predict", run, "--nbest", 2, stdin=asked).out.splitlines()]
    assert [n for n, *_ in rows] == ["1", "1", "2"] and rows[0][2] == "at night"
    (first, _) = map(json.loads, command("predict", run, "--json", stdin=asked).out.splitlines())
    assert first["blanks"][0][0]["token"] == "at night"
    assert list(json.loads(command("evaluate", run, run.parent / "text.txt", "--json").out)) == [*task.metrics]
    assert "blanks: up to 99 a text" in command("show", run).out
    drawn = picture(task, "the cat purrs [MASK]")
    assert isinstance(drawn, AttentionPicture) and drawn.rows["cross"] == ["[1]", "at", "night", "[2]", "</s>"]
    assert drawn.columns["cross"] == ["the", "cat", "purrs", "[1]", "</s>"]
    made = door(task, task.for_inference(), Limits())
    settings = made.settings({"n": 7})
    ((_, said),) = made.answer(["the cat purrs [MASK]"], settings)
    assert said["answer"]["text"] == "the cat purrs at night" and made.size("the cat", settings).rows == 7


def test_a_file_in_parts_keeps_its_numbers(run, tmp_path):
    (tmp_path / "asked.txt").write_text("the [MASK]\n" * 4, encoding="utf-8")
    said = command("predict", run, tmp_path / "asked.txt", "--shard", "2/2", "--json").out.splitlines()
    assert [json.loads(line)["line"] for line in said] == [3, 4]


@pytest.mark.parametrize("kind", ["bpe", "char"])
def test_blanks_stand_where_tokens_were(tmp_path, kind):
    task = trained(tmp_path, train={"steps": 1}, text={"kind": kind, "vocab_size": 300})
    whole, blank = task.blanked("the cat purrs at night"), task.blanked("the [MASK] purrs [MASK] night")
    assert (
        [id for id in blank if id in task.sentinels] == task.sentinels[:2] == [len(task.source), len(task.source) + 1]
    )
    at = blank.index(task.sentinels[0])
    assert whole[:at] == blank[:at] and whole[-2:] == blank[-2:]
    assert task.model.project.weight.size(0) == len(task.source) + SENTINELS
    assert next(task.predict(["the [MASK]"])) == next(load(tmp_path / "run").predict(["the [MASK]"]))


def test_what_cannot_be_read(tmp_path, task):
    with pytest.raises(DataError, match="line 2: 100 blanks, and a text may have 99"):
        list(task.predict(["a", "[MASK] " * 100]))
    model = {"architecture": "encoder-decoder"} | SMALL | {"position": "learned", "max_len": 6}
    short = trained(tmp_path, train={"steps": 1}, text={"kind": "word"}, model=model)
    assert [len(piece) for piece in short.encode_lines([Line("the cat " * 4 + "the", 0, 1)])] == [4, 4]
    with pytest.raises(DataError, match="line 1: 9 tokens with </s>, and the model reads 6"):
        list(short.predict(["the cat " * 4]))


def test_what_cannot_be_asked():
    told = "train.span is for an encoder-decoder: set model.architecture to encoder-decoder"
    with pytest.raises(ConfigError, match=told):
        make_recipe({"task": "fill", "train": {"span": 5}}, origin="o")
    with pytest.raises(ConfigError, match="task fill needs an encoder or an encoder-decoder, not .*'decoder'"):
        make_recipe({"task": "fill", "model": {"architecture": "decoder"}}, origin="o")


def t5(folder, perturb, sentinels=8):
    """A T5 that knows every byte and some blanks."""
    marks = tuple(f"<extra_id_{n}>" for n in reversed(range(sentinels)))
    tokenizer = published.byte_level(("<pad>", "</s>", "<unk>", *marks), "$A </s>")
    sizes = dict(vocab_size=259 + sentinels, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_decoder_layers=1)
    return published.write(T5, "T5ForConditionalGeneration", folder, tokenizer, sizes | {"num_heads": 2}, perturb)


def test_a_published_model_learns_on_and_goes_out_again(tmp_path, perturb):
    t5(tmp_path / "theirs", perturb)
    task = trained(tmp_path, train={"steps": 2, "span": 3}, model={"from": str(tmp_path / "theirs")})
    assert isinstance(task, FillSpans) and task.sentinels == [10, 9, 8, 7, 6, 5, 4, 3]
    assert task.blanked("a[MASK]b")[1] == 10 and task.blanked("a[MASK]b")[-1] == 1
    assert next(load(tmp_path / "run").predict(["a [MASK]"])) == next(task.predict(["a [MASK]"]))
    said = command("export", tmp_path / "run", "--to", "hf", "--out", tmp_path / "out")
    assert said.code == 0 and "T5ForConditionalGeneration, read again with equal outputs" in said.out + said.err
    assert Path(tmp_path / "out" / "config.json").exists()


def test_a_published_model_without_sentinels(tmp_path, perturb):
    published.t5(tmp_path / "theirs", perturb)
    with pytest.raises(ConfigError, match="no sentinels <extra_id_0>, <extra_id_1>, …, so no spans can be left out"):
        trained(tmp_path, train={"steps": 1, "span": 3}, model={"from": str(tmp_path / "theirs")})
