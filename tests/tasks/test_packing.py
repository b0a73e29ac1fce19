import pytest
import torch
from tests.runs import Heard, tiny_recipe, words, write_pairs

from sublayer.data.batch import PackedPairs, PairBatch
from sublayer.models.config import Part
from sublayer.tasks import fit as fitting
from sublayer.tasks import packing, translating
from sublayer.tasks.packing import describe_packing, pack, packs
from sublayer.tasks.teaching import translation_loss
from sublayer.tasks.translate import Translate

SHORT, LONG = ([4], [4]), ([4] * 19, [5] * 14)  # 2 and 2 tokens, 20 and 15
RAGGED = [SHORT, SHORT, LONG]


def changed(task, **parts):
    config = task.config.model_copy(update={name: Part(kind=kind) for name, kind in parts.items()})
    return Translate(task.model, config, task.source, task.target, task.search)


def test_a_batch_is_packed_where_that_saves_enough_for_each_pair_of_lengths(task):
    assert packs(task, [SHORT, SHORT, LONG])  # 62 tokens of padding for two pairs of lengths
    assert not packs(task, [SHORT, LONG])  # 31
    assert not packs(task, [SHORT, SHORT, SHORT])


def test_a_batch_is_not_packed_where_little_of_it_is_padding(task):
    assert not packs(task, [LONG] * 16 + [SHORT] * 2)  # 62 of 630
    assert packs(task, [LONG] * 15 + [SHORT] * 2)  # 62 of 595


def test_packed_or_padded_a_batch_costs_the_same(task):
    packed, padded = pack(task, RAGGED), task.batch(RAGGED)
    assert isinstance(packed, PackedPairs) and isinstance(padded, PairBatch)
    eos = task.target.eos
    assert packed.labels.tolist() == padded.labels.tolist() == [4, eos, 4, eos, *[5] * 14, eos]
    with torch.no_grad():
        losses = [translation_loss(task.model, batch).total for batch in (packed, padded)]
    torch.testing.assert_close(*losses, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize(
    "parts, reason",
    [
        ({"position": "alibi"}, "position alibi adds to the scores of every pair of tokens in the row"),
        ({"position": "relative"}, "position relative adds to the scores"),
        ({"kernel": "eager"}, "kernel eager would weigh every token of the row"),
        ({"norm": "my:Norm", "ffn": "my:Net"}, "ffn, norm may not know packed rows"),
    ],
)
def test_where_packing_could_not_pay_or_not_be_right_none_is_packed_and_show_says_why(task, parts, reason):
    other = changed(task, **parts)
    assert not packs(other, RAGGED)
    assert f"packing: no training batch, since {reason}" in describe_packing(other)


def test_show_says_when_batches_are_packed(task):
    assert describe_packing(task) == (
        "packing: training batches that would be padding to 10% or more, with 20 tokens of it or more for each pair of "
        "lengths"
    )
    assert packs(changed(task, position="rotary", norm="rmsnorm", ffn="swiglu"), RAGGED)


def test_a_training_run_packs_and_learns_the_same(tmp_path, monkeypatch):
    train = write_pairs(tmp_path / "train.tsv", words()[:60])
    made, curves = [], []
    monkeypatch.setattr(translating, "pack", lambda *args: made.append(pack(*args)) or made[-1])
    monkeypatch.setattr(packing, "LEAST_SHARE", 0.0)
    for least in (0, 10**9):  # all batches, none
        monkeypatch.setattr(packing, "LEAST_A_CALL", least)
        heard = Heard()
        fitting.fit(tiny_recipe(train, model={"dropout": 0.0}), tmp_path / f"{least}", heard)
        curves.append([line["loss"] for line in heard.records if "loss" in line])
    assert len(made) == len(curves[0]) == 10 and all(isinstance(batch, PackedPairs) for batch in made)
    assert curves[0] == pytest.approx(curves[1], abs=1e-4)
