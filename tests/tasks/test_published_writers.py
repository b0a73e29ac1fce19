"""Published models that write: tuned by their own vocabulary, with what it puts around a text."""

import random
import shutil

import pytest
import torch
from tests import published
from tests.runs import Heard

from sublayer.data import Pair
from sublayer.errors import ConfigError
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe
from sublayer.text import PublishedSide, load_side

TRAIN = dict(steps=2, batch_tokens=64, validate_every=2, save_every=2, log_every=1)


def pairs(folder):
    draw = random.Random(0)
    words = ["".join(draw.choices("abé ", k=4)).strip() or "a" for _ in range(30)]
    (folder / "pairs.tsv").write_text("".join(f"{word}\t{word[::-1]}\n" for word in words), encoding="utf-8")
    return str(folder / "pairs.tsv")


def translate(folder, source, **model):
    values = {"task": "translate", "data": {"train": pairs(folder), "valid": pairs(folder)}}
    return make_recipe(values | {"model": {"from": str(source)} | model, "train": TRAIN}, origin="a test")


@pytest.mark.parametrize(
    "family, source, target",
    [
        ("bart", [0, 68, 69, 2], [2, 0, 68, 69, 2]),
        ("t5", [67, 68, 1], [0, 67, 68, 1]),
    ],
)
def test_texts_are_framed_as_they_were_when_the_model_was_made(tmp_path, family, source, target):
    made = getattr(published, family)(tmp_path / "published")
    task = fit(translate(tmp_path, tmp_path / "published"), tmp_path / "run", Heard())
    shutil.rmtree(tmp_path / "published")
    batch = task.batch(task.encode_pairs([Pair("ab", "ab", 1)]))
    assert (batch.source.tolist(), batch.target.tolist()) == ([source], [target])
    assert made.tokenizer.inputs("ab").ids == source
    again = load(tmp_path / "run")
    assert [found[0].text for found in again.predict(["ab", "é"])] == [
        found[0].text for found in task.predict(["ab", "é"])
    ]


def test_answers_are_those_of_transformers(tmp_path, perturb):
    import transformers

    published.bart(tmp_path / "published", perturb)
    recipe = translate(tmp_path, tmp_path / "published")
    recipe = recipe.model_copy(update={"train": recipe.train.model_copy(update={"learning_rate": 1e-12, "steps": 1})})
    task = fit(recipe, tmp_path / "run", Heard())
    theirs = transformers.BartForConditionalGeneration.from_pretrained(tmp_path / "published").eval()
    ids = torch.tensor([[*task.source.encode("abé"), task.source.eos]])
    ruled = dict(
        num_beams=1,
        do_sample=False,
        forced_bos_token_id=0,
        decoder_start_token_id=2,
        suppress_tokens=[1, 3],
        max_new_tokens=8,
    )
    said = theirs.generate(ids, forced_eos_token_id=None, **ruled)[0, 1:].tolist()
    greedy = task.search.model_copy(update={"beam": 1, "max_ratio": 0.0, "max_extra": 8})
    [[ours]] = task.predict(["abé"], search=greedy)
    assert list(ours.tokens) == [task.target.piece(id) for id in said]


def test_languages(tmp_path):
    published.m2m100(tmp_path / "published")
    with pytest.raises(ConfigError, match=r"is for several languages. .* as 'xx' is one: --set 'model.languages="):
        fit(translate(tmp_path, tmp_path / "published"), tmp_path / "run", Heard())
    with pytest.raises(ConfigError, match="model.languages: .* has no token 'zz'"):
        fit(translate(tmp_path, tmp_path / "published", languages=["xx", "zz"]), tmp_path / "run", Heard())
    task = fit(translate(tmp_path, tmp_path / "published", languages=["yy", "xx"]), tmp_path / "run", Heard())
    batch = task.batch(task.encode_pairs([Pair("a", "a", 1)]))
    assert (batch.source.tolist(), batch.target.tolist()) == ([[5, 70, 2]], [[2, 4, 70, 2]])
    [[answer]] = task.predict(["ab"])
    assert answer.tokens[0] == "xx" and "xx" not in answer.text
    published.bart(tmp_path / "one")
    with pytest.raises(ConfigError, match="puts no language beside a text: leave it out"):
        fit(translate(tmp_path, tmp_path / "one", languages=["xx", "yy"]), tmp_path / "other", Heard())


def test_a_language_behind_the_text(tmp_path):
    """As mBART has it: a source ends in its language, and an answer is written after that of the target."""
    from sublayer.tasks.sections import Published
    from sublayer.tasks.starting import _sides

    tokenizer = published.byte_level(("<s>", "<pad>", "</s>", "<unk>", "xx", "yy"), "$A </s> xx")
    about = Published.model_validate({"from": "x", "languages": ["yy", "xx"]})
    reads, writes = _sides(about, tokenizer, 2)
    assert [*reads.encode("a"), reads.eos] == [70, 2, 5]
    assert [writes.bos, *writes.encode("a"), writes.eos] == [4, 70, 2]
    reads.save(tmp_path / "t.json")
    again = load_side(tmp_path / "t.json")
    assert isinstance(again, PublishedSide) and repr(again) == repr(reads)
    words = reads.words("ab a")
    assert (words.ids, words.texts) == (tuple(reads.encode("ab a")), ("ab", "a"))
    assert (words.of[:2], words.of[-2:]) == ((0, 0), (1, -1))


def text(folder):
    (folder / "text.txt").write_text("one two\nthree é\n" * 20, encoding="utf-8")
    return str(folder / "text.txt")


def complete(folder, source, **train):
    values = {"task": "complete", "data": {"train": text(folder)}, "model": {"from": str(source)}}
    return make_recipe(values | {"train": TRAIN | {"context": 16} | train}, origin="a test")


def test_a_language_model_goes_on(tmp_path):
    published.gpt2(tmp_path / "gpt2")
    with pytest.raises(ConfigError, match="train.context is 128, and .*gpt2 reads 64: write no more"):
        fit(complete(tmp_path, tmp_path / "gpt2", context=128), tmp_path / "run", Heard())
    tuned = complete(tmp_path, tmp_path / "gpt2", steps=60, learning_rate=1e-2)
    task = fit(tuned, tmp_path / "run", Heard())
    shutil.rmtree(tmp_path / "gpt2")
    again = load(tmp_path / "run")
    greedy = again.search.model_copy(update={"temperature": 0.0, "max_extra": 6})
    [[said]] = again.predict(["one"], search=greedy)
    assert said.text.startswith(" t") and "".join(again.stream("one", search=greedy)) == said.text
    assert again.target.kind == "bpe" and task.config.position.kind == "learned"
