import random

import pytest
from tests.runs import Heard, tiny_recipe, words, write_pairs

import sublayer
from sublayer.data import read_pairs
from sublayer.errors import ConfigError
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe import Subwords
from sublayer.tasks.recipe_file import read_recipe
from sublayer.tasks.subwords import Recuts
from sublayer.tasks.translating import _Pairs
from sublayer.text import train_tokenizer

WORDS = words()
DRAWN = {"bpe": {"dropout": 0.3}, "unigram": {"alpha": 0.2}}


def recipe(folder, kind, **subwords):
    file = folder / "train.tsv"
    if not file.exists():
        write_pairs(file, [" ".join(WORDS[i : i + 5]) for i in range(0, 300, 5)])
    side = {"kind": kind, "vocab_size": 300}
    return tiny_recipe(file, file, text={"source": side, "target": side}, steps=8, batch_tokens=256, subwords=subwords)


def pairs_of(folder):
    return read_pairs(folder / "train.tsv").items


class Dies(Heard):
    def step(self, progress):
        super().step(progress)
        if progress.step == 6:
            raise KeyboardInterrupt


@pytest.mark.parametrize("kind", DRAWN)
def test_a_resumed_run_hears_the_same_cuts_and_validation_none_of_them(tmp_path, kind):
    asked, heard = recipe(tmp_path, kind, **DRAWN[kind]), Heard()
    fit(asked, tmp_path / "whole", heard)
    with pytest.raises(KeyboardInterrupt):
        fit(asked, tmp_path / "parts", Dies())
    fit(asked, tmp_path / "parts", Heard(), resume=True)
    for file in ("model.safetensors", "metrics.jsonl", "checkpoints/step-00000008/state.safetensors"):
        assert (tmp_path / "parts" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    fit(recipe(tmp_path, kind), tmp_path / "plain", Heard())
    files = [(tmp_path / run / "model.safetensors").read_bytes() for run in ("whole", "plain")]
    assert files[0] != files[1]
    task = sublayer.load(tmp_path / "whole")
    items = task.encode_pairs(pairs_of(tmp_path))
    assert items == sublayer.load(tmp_path / "plain").encode_pairs(pairs_of(tmp_path))
    best = min(line["valid_loss"] for line in heard.records if "valid_loss" in line)
    assert task.evaluate(pairs_of(tmp_path), ["loss"])[0].value == pytest.approx(best, rel=1e-5)


def test_batches_are_the_same_each_time_and_others_in_each_epoch_and_of_other_rows(tmp_path):
    fit(recipe(tmp_path, "bpe", **DRAWN["bpe"]), tmp_path / "run", Heard())
    task, train = sublayer.load(tmp_path / "run"), read_recipe(tmp_path / "run" / "recipe.yaml").train
    examples = task.encode_pairs(pairs_of(tmp_path))
    ours, theirs = (_Pairs(task, examples, train) for _ in range(2))
    rows = list(range(8))
    made = [ours.make((epoch, rows)).target.tolist() for epoch in (0, 1)]
    assert theirs.make((1, rows)).target.tolist() == made[1] != made[0]  # a process that comes later makes the same

    batch = ours.make((0, rows))
    for side, tokenizer, place in (("source", task.source, 0), ("target", task.target, 1)):
        read = [tokenizer.decode(ids) for ids in getattr(batch, side).tolist()]
        assert read == [tokenizer.decode(example[place]) for example in examples[:8]]


def test_a_cut_that_is_too_long_for_the_model_is_not_taken():
    bpe = train_tokenizer("bpe", ["abab abab abab"] * 3, vocab_size=300)
    ids, draw = bpe.encode("abab abab"), random.Random(0).random
    free = Recuts(Subwords(dropout=0.9), bpe, bpe)
    assert all(len(each) > len(ids) for each in free((ids, ids), draw))
    assert Recuts(Subwords(dropout=0.9), bpe, bpe, limit=len(ids) + 1)((ids, ids), draw) == (ids, ids)


def test_one_side_alone_can_be_cut_by_chance():
    bpe = train_tokenizer("bpe", ["abab abab abab"] * 3, vocab_size=300)
    ids, draw = bpe.encode("abab abab"), random.Random(0).random
    source, target = Recuts(Subwords(dropout=0.9, sides="target"), bpe, bpe)((ids, ids), draw)
    assert source == ids != target


def test_settings_for_a_kind_that_neither_side_is_of_stop_before_anything_is_written(tmp_path):
    pairs = write_pairs(tmp_path / "train.tsv", WORDS[:40])
    for name, kind in (("dropout", "bpe"), ("alpha", "unigram")):
        with pytest.raises(ConfigError) as error:
            fit(tiny_recipe(pairs, subwords={name: 0.1, "sides": "source"}), tmp_path / "run", Heard())
        assert str(error.value) == (
            f"train.subwords.{name} is for kind {kind}, and of source the kinds are source: char, target: char. "
            "Set text.source.kind or text.target.kind, or leave it out."
        )
    assert not (tmp_path / "run").exists()
