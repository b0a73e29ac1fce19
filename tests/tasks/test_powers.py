"""What a recipe may add to training: each trains, tells the same after a stop, and is loaded as any model."""

import pytest
from tests.runs import Heard, tiny_recipe, words, write_pairs

import sublayer
from sublayer.errors import ConfigError
from sublayer.tasks.fit import fit

WORDS = words()
POWERS = [
    {"precision": "bf16"},
    {"ema": 0.9},
    {"recompute": True},
    {"loss_chunk": 7},
    {"optimizer": "adafactor", "learning_rate": 0.05},
    {"optimizer": "muon"},
    {"r_drop": 1.0},
    {"teacher": {"run": "teacher", "temperature": 2.0}},
]


@pytest.fixture
def files(tmp_path):
    return write_pairs(tmp_path / "train.tsv", WORDS[:60]), write_pairs(tmp_path / "valid.tsv", WORDS[60:80])


class Dies(Heard):
    def step(self, progress):
        super().step(progress)
        if progress.step == 6:
            raise KeyboardInterrupt


@pytest.mark.parametrize("power", POWERS, ids=lambda power: "-".join(map(str, power)))
def test_it_trains_and_goes_on_to_the_bit(tmp_path, files, power, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "teacher" in power:
        fit(tiny_recipe(*files, model=dict(d_model=8)), tmp_path / "teacher", Heard())
    recipe = tiny_recipe(*files, steps=8, **power)
    heard = Heard()
    fit(recipe, tmp_path / "whole", heard)
    losses = [line["valid_loss"] for line in heard.records if "valid_loss" in line]
    assert losses[-1] < losses[0]
    with pytest.raises(KeyboardInterrupt):
        fit(recipe, tmp_path / "parts", Dies())
    fit(recipe, tmp_path / "parts", Heard(), resume=True)
    for file in ("model.safetensors", "metrics.jsonl", "checkpoints/step-00000008/state.safetensors"):
        assert (tmp_path / "parts" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    assert len(list(sublayer.load(tmp_path / "parts").predict(WORDS[:3]))) == 3


@pytest.mark.parametrize("power", [{"recompute": True}, {"loss_chunk": 7}], ids=["recompute", "loss_chunk"])
def test_what_saves_memory_changes_no_number(tmp_path, files, power):
    plain, saving = Heard(), Heard()
    fit(tiny_recipe(*files), tmp_path / "plain", plain)
    fit(tiny_recipe(*files, **power), tmp_path / "saving", saving)
    for ours, theirs in zip(saving.records, plain.records, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-4)


def test_parts_of_a_matrix_are_not_enough_for_two_of_the_optimisers(files):
    for kind in ("adafactor", "muon"):
        with pytest.raises(ConfigError, match=f"optimizer '{kind}' needs whole matrices: choose adamw, or parallel"):
            tiny_recipe(*files, optimizer=kind, parallel="fsdp")
