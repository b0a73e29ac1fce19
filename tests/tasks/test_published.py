"""Tuning of published checkpoints: the recipe names a folder under model.from."""

import random
import shutil

import pytest
import torch
from tests import published
from tests.runs import Heard, command

from sublayer.errors import CheckpointError, ConfigError
from sublayer.interop.pretrained import from_pretrained
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe, read_recipe

ANIMALS, TOOLS = "cat dog bird fish horse".split(), "hammer saw drill wrench plane".split()
WORDS = [*ANIMALS, *TOOLS, *"the a my our one this and ##s ##es".split()]
TRAIN = dict(steps=60, batch_tokens=128, learning_rate=5e-3, validate_every=30, save_every=30, log_every=30)


def data(folder, write):
    draw = random.Random(0)
    for name, size in (("train", 120), ("valid", 30)):
        (folder / f"{name}.txt").write_text("".join(write(draw) for _ in range(size)), encoding="utf-8")
    return {name: str(folder / f"{name}.txt") for name in ("train", "valid")}


def some(draw):
    kind, known = draw.choice([("animal", ANIMALS), ("tool", TOOLS)])
    return draw.choice("the a my our".split()), draw.choice(known) + draw.choice(["", "s"]), kind


def text(draw):
    article, word, kind = some(draw)
    return f"{article} {word}\t{kind}\n"


def pair(draw):
    """The label is of the second text: an animal's name in the first says nothing."""
    _, word, _ = some(draw)
    _, other, kind = some(draw)
    return f"{word}\tthe {other}\t{kind}\n"


def tagged(draw):
    article, word, kind = some(draw)
    return f"{article}\tO\n{word}\tB-{kind}\n\n"


WRITE = {"classify": text, "tag": tagged}


def recipe(folder, task, source, write=None, **sections):
    values = {"task": task, "data": data(folder, write or WRITE[task]), "model": {"from": str(source)}}
    return make_recipe(values | {"train": TRAIN} | sections, origin="a test")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint") / "bert"
    published.bert(folder, WORDS)
    return folder


@pytest.mark.parametrize("task", WRITE)
def test_it_learns_and_the_run_is_whole_without_the_checkpoint(bert, tmp_path, task):
    source = tmp_path / "published"
    shutil.copytree(bert, source)
    heard = Heard()
    fit(recipe(tmp_path, task, source), tmp_path / "run", heard)
    shutil.rmtree(source)
    asked = read_recipe(tmp_path / "run" / "recipe.yaml")
    assert asked.model.source == str(source) and asked.text.kind == "auto"
    assert not [line for line in heard.messages if line.startswith(("model:", "text:"))]
    again = load(tmp_path / "run")
    assert again.config.d_model == 16 and again.tokenizer.kind == "wordpiece"
    assert heard.records[-1]["valid_accuracy"] > 0.9
    assert command("show", tmp_path / "run").out.splitlines()[0].startswith("text: wordpiece, 24 tokens, norm")
    said = list(again.predict(["my cats", "a drill"]))
    if task == "classify":
        assert [found.labels for found in said] == [("animal",), ("tool",)]
    else:
        assert [found.tags for found in said] == [("O", "B-animal"), ("O", "B-tool")]


def test_it_starts_from_the_weights_of_the_checkpoint_and_leaves_its_head(bert, tmp_path):
    made = published.bert(tmp_path / "again", WORDS, "BertForSequenceClassification")
    task = fit(
        recipe(tmp_path, "classify", tmp_path / "again", train=TRAIN | {"learning_rate": 1e-12}),
        tmp_path / "run",
        Heard(),
    )
    for (name, before), after in zip(made.model.body.named_parameters(), task.model.body.parameters(), strict=True):
        assert torch.allclose(before, after, atol=1e-6), name
    assert task.config.head.kind == "none" and task.model.head.classes.weight.shape == (2, 16)


def test_pairs_are_read_with_their_segments(bert, tmp_path):
    task = fit(recipe(tmp_path, "classify", bert, pair, train=TRAIN | {"steps": 180}), tmp_path / "run", Heard())
    batch = task.batch(task.encode([("cat", "the saw"), ("dogs", "drill")]))
    assert batch.types.tolist() == [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]]
    answers = list(task.predict(["cat\tthe saw", "saw\ta cat"]))
    assert [found.labels for found in answers] == [("tool",), ("animal",)]
    with torch.inference_mode():
        blind = task.model(batch.ids, batch.mask)
        assert not torch.allclose(task.model(*batch.inputs), blind)
        ids, mask, types = task.batch(task.encode([("dogs", "drill")])).inputs  # a row alone
        assert torch.allclose(task.model(ids, mask, types)[0], task.model(*batch.inputs)[1], atol=1e-5)


def test_a_stopped_run_goes_on(bert, tmp_path):
    steady = TRAIN | {"schedule": "constant", "warmup": 0}
    fit(recipe(tmp_path, "classify", bert, train=steady | {"steps": 30}), tmp_path / "a", Heard())
    path = tmp_path / "a" / "recipe.yaml"
    path.write_text(path.read_text("utf-8").replace("steps: 30", "steps: 60"), encoding="utf-8")
    on = fit(read_recipe(path), tmp_path / "a", Heard(), resume=True)
    once = fit(recipe(tmp_path, "classify", bert, train=steady), tmp_path / "b", Heard())
    assert all(a.equal(b) for a, b in zip(on.model.parameters(), once.model.parameters(), strict=True))


def test_what_may_be_said_beside_from(bert, tmp_path):
    task = fit(
        recipe(tmp_path, "classify", bert, model={"from": str(bert), "dropout": 0.3, "attention_dropout": 0.0}),
        tmp_path / "run",
        Heard(),
    )
    assert (task.config.dropout, task.config.attention_dropout) == (0.3, 0.0)


def test_adapters_are_merged_into_what_is_kept(bert, tmp_path):
    lora = {"lora": {"rank": 4, "where": ["*.q_proj", "*.up"]}, "learning_rate": 2e-2, "schedule": "constant"}
    whole = TRAIN | lora | {"warmup": 0}
    fit(recipe(tmp_path, "classify", bert, train=whole | {"steps": 30}), tmp_path / "a", Heard())
    path = tmp_path / "a" / "recipe.yaml"
    path.write_text(path.read_text("utf-8").replace("steps: 30", "steps: 60"), encoding="utf-8")
    on = fit(read_recipe(path), tmp_path / "a", Heard(), resume=True)
    once = fit(recipe(tmp_path, "classify", bert, train=whole), tmp_path / "b", Heard())
    assert all(a.equal(b) for a, b in zip(on.model.parameters(), once.model.parameters(), strict=True))
    base = from_pretrained(bert).model.body.state_dict()
    moved = {name for name, x in once.model.body.state_dict().items() if not x.equal(base[name])}
    assert moved == {f"encoder.layers.{i}.{part}.weight" for i in (0, 1) for part in ("self_attn.q_proj", "ffn.up")}
    again = load(tmp_path / "b")
    said = [[found.labels for found in task.predict(["my cats", "a drill"])] for task in (again, once)]
    assert said[0] == said[1] == [("animal",), ("tool",)]
    assert command("average", tmp_path / "a").code == 2  # one checkpoint is kept
    part = tmp_path / "c"
    fit(recipe(tmp_path, "classify", bert, train=whole | {"keep": 2}), part, Heard())
    assert command("average", part).code == 0 and load(part / "averaged").config.d_model == 16


OWN = "a published checkpoint has its own sizes and parts: leave d_model out, or model.from"


@pytest.mark.parametrize(
    "sections, told",
    [
        ({"model": {"from": "x", "d_model": 4, "norm": "rmsnorm"}}, f"model.d_model: {OWN}"),
        ({"model": {"from": "x", "revison": "main"}}, "model.revison: there is no such key. Did you mean 'revision'?"),
        ({"model": {"from": ""}}, "model.from: String should have at least 1 character"),
        ({"model": {"from": "x"}, "text": {"kind": "word"}}, "model.from brings its own vocabulary: leave text out"),
    ],
)
def test_what_cannot_be_said_beside_it(tmp_path, sections, told):
    with pytest.raises(ConfigError) as error:
        make_recipe({"task": "classify"} | sections, origin="a test")
    assert told in str(error.value) and "(published)" not in str(error.value)


def test_a_checkpoint_that_is_not_there_or_not_for_this_task(bert, tmp_path):
    with pytest.raises((CheckpointError, ConfigError), match="nowhere is no folder here"):
        fit(recipe(tmp_path, "classify", "nowhere"), tmp_path / "run", Heard())
    published.gpt2(tmp_path / "gpt2")
    told = r"model.from: the task needs an encoder, and .*gpt2 holds gpt2, a decoder. Name a checkpoint of bert,"
    with pytest.raises(ConfigError, match=told):
        fit(recipe(tmp_path, "classify", tmp_path / "gpt2"), tmp_path / "run", Heard())
    shutil.copytree(bert, tmp_path / "bare")
    (tmp_path / "bare" / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match="model.from: .*bare holds no vocabulary that can be read"):
        fit(recipe(tmp_path, "classify", tmp_path / "bare"), tmp_path / "run", Heard())
    published.bert(tmp_path / "small", WORDS[:5])
    shutil.copy(bert / "tokenizer.json", tmp_path / "small")
    with pytest.raises(CheckpointError, match="has 24 tokens and its model 10: these files do not belong together"):
        fit(recipe(tmp_path, "classify", tmp_path / "small"), tmp_path / "run", Heard())
    assert not (tmp_path / "run").exists()
