"""Tags of languages before the sources of a translator."""

import pytest
from tests.runs import TINY, Heard, words, write_pairs

import sublayer
from sublayer.errors import ConfigError
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe
from sublayer.tasks.translating import Translating
from sublayer.text import Tagged, Tokenizer

WORDS = words()[:60]


def recipe(folder, kind, *, text=None, data=None, **train):
    """Sources that ask for the word as it is, or turned round."""
    settings = dict(steps=2, batch_tokens=64, warmup=0, validate_metrics=[]) | train
    side = {"kind": kind, "vocab_size": 300}
    files = {"train": str(folder / "train.tsv"), "valid": str(folder / "valid.tsv")}
    values = {"data": files | (data or {}), "model": TINY, "train": settings}
    return make_recipe(values | {"text": {"source": side, "target": side} | (text or {})}, origin="a test")


@pytest.fixture
def folder(tmp_path):
    write_pairs(tmp_path / "plain.tsv", WORDS)
    for name in ("train", "valid"):
        pairs = [(f"<same> {word}", word) for word in WORDS] + [(f"<turn> {word}", word[::-1]) for word in WORDS]
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (tmp_path / f"{name}.tsv").write_text(lines, encoding="utf-8", newline="\n")
    return tmp_path


@pytest.mark.parametrize("kind", ["char", "bpe", "unigram", "wordpiece", "word"])
@pytest.mark.parametrize("shared", [False, True])
def test_in_a_plain_file_a_tag_is_one_token_of_every_kind(folder, kind, shared):
    fit(recipe(folder, kind, text={"tags": ["<same>", "<turn>"], "shared": shared}), folder / "run", Heard())
    task = sublayer.load(folder / "run")
    assert isinstance(task.source, Tagged) and (task.target is task.source) == shared
    own = task.source.own
    assert task.source.encode("<turn> abc") == [len(own) + 1, *own.encode("abc")]
    assert [task.source.piece(i) for i in task.source.encode("<same> abc")][0] == "<same>"
    assert not {"<", "<same", "same"} & {own.piece(i) for i in range(4, len(own))} or kind in ("bpe", "unigram")
    assert task.config.source_vocab == len(own) + 2
    answers = [found[0].text for found in task.predict(["<turn> abc", "abc", ""])]
    assert len(answers) == 3 and answers[2] == ""


def test_a_prefix_that_is_a_word_and_a_space_is_a_tag(folder):
    data = {"train": str(folder / "plain.tsv"), "prefix": "<turn> "}
    data["more"] = [{"train": str(folder / "plain.tsv"), "prefix": prefix} for prefix in ("<same> ", "<turn> ", "> > ")]
    task = fit(recipe(folder, "char", data=data, text={"tags": ["<also>"]}), folder / "run", Heard())
    assert task.source.tags == ("<also>", "<turn>", "<same>")
    assert {">", " "} < set(task.source.own.vocabulary) and "<" not in task.source.own.vocabulary


def test_without_a_tag_the_vocabulary_is_as_ever(folder):
    assert isinstance(fit(recipe(folder, "char"), folder / "run", Heard()).source, Tokenizer)


def test_the_prefix_of_the_plain_file_is_of_training_alone(folder):
    asked = recipe(folder, "char", data={"prefix": "<turn> "})
    job = Translating()
    assert {pair.source.split(" ")[0] for pair in job.read_train(asked)} == {"<turn>"}
    valid = job.read(asked.data.valid, asked, skip_bad=False)
    assert {pair.source.split(" ")[0] for pair in valid} == {"<same>", "<turn>"}


@pytest.mark.parametrize(
    "train",
    [
        {"noise": {"drop": 0.9, "blank": 0.9, "mix": 3}},
        {"subwords": {"dropout": 0.9}},
    ],
)
def test_chance_leaves_the_tag_where_it_is(folder, train):
    asked = recipe(folder, "bpe", text={"tags": ["<same>", "<turn>"]}, **train)
    task = fit(asked, folder / "run", Heard())
    pairs = Translating().read_train(asked)
    examples = task.encode_pairs(list(pairs))
    batches = Translating().batches(task, examples, asked.train)
    changed = 0
    for rows in batches.epoch(0):
        batch = batches.make(rows)
        sources = batch.source.tolist()
        tags = sorted(examples[row][0][0] for row in rows[1])
        assert sorted(row[0] for row in sources) == tags
        assert not [i for row in sources for i in row[1:] if i >= len(task.source.own)]
        before = sorted([*examples[row][0], task.source.eos] for row in rows[1])
        changed += before != sorted([i for i in row if i != task.source.pad] for row in sources)
    assert changed


def test_what_is_no_tag_is_told(folder):
    with pytest.raises(ConfigError, match=r"text.tags.1: .*\(got 'to French'\)"):
        recipe(folder, "char", text={"tags": ["<fr>", "to French"]})
