import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.train import together

from sublayer.models.store import load_tensors
from sublayer.train.state import checkpoints
from sublayer.train.world import Alone

ENGINES = ("replicated", "sharded")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where one process alone and two together have trained the same model on the same batches."""
    folder = tmp_path_factory.mktemp("runs")
    alone = together.trainer(folder / "alone", Alone(), 9, validate=True)
    alone.run()
    half = together.trainer(folder / "alone-bf16", Alone(), 9, "bf16")
    half.run()
    saving = together.trainer(folder / "alone-saving", Alone(), 9, "saving", validate=True)
    saving.run()
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    root = Path(__file__).parents[2]
    env = os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}", "OMP_NUM_THREADS": "1"}
    script = str(Path(together.__file__))
    done = subprocess.run([*torchrun, script, str(folder)], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "found.json").read_text())
    valid = [line["valid_loss"] for line in alone.listener.lines if "valid_loss" in line]
    found |= {"alone": together.losses(alone), "alone-valid": valid, "alone-bf16": together.losses(half)}
    found["alone-saving-valid"] = [line["valid_loss"] for line in saving.listener.lines if "valid_loss" in line]
    (folder / "found.json").write_text(json.dumps(found))
    return folder


@pytest.fixture
def found(folder):
    return json.loads((folder / "found.json").read_text())


@pytest.mark.parametrize("engine", ENGINES)
def test_two_processes_lose_what_one_does_on_the_joined_batch(found, engine):
    assert len(found["alone"]) == 9
    assert found[f"{engine}-fp32"] == pytest.approx(found["alone"], abs=1e-5)
    assert found[f"{engine}-fp32-valid"] == pytest.approx(found["alone-valid"], abs=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_so_they_do_with_layers_computed_again_a_loss_in_chunks_and_a_moving_mean(found, engine):
    assert found[f"{engine}-saving"] == pytest.approx(found["alone"], abs=1e-5)
    assert found[f"{engine}-saving-valid"] == pytest.approx(found["alone-saving-valid"], abs=1e-5)
    assert found["alone-saving-valid"] != pytest.approx(found["alone-valid"], abs=1e-5)  # that of the mean
    assert found[f"{engine}-saving-resumed"] == found[f"{engine}-saving"][3:]


@pytest.mark.parametrize("engine", ENGINES)
def test_two_passes_a_batch_cost_what_one_does_where_nothing_is_dropped(found, engine):
    assert found[f"{engine}-twice"] == pytest.approx(found["alone"], abs=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_in_bf16_the_losses_agree_to_its_eight_bits(found, engine):
    assert found[f"{engine}-bf16"] == pytest.approx(found["alone-bf16"], rel=0.02)
    assert found[f"{engine}-bf16"] != found[f"{engine}-fp32"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_weights_that_are_kept_are_whole_and_those_of_one_process(folder, engine):
    ours = load_tensors(folder / f"{engine}-fp32" / "model.safetensors")
    alone = load_tensors(folder / "alone" / "model.safetensors")
    assert ours.keys() == alone.keys()
    # A bias of the keys moves all scores of a query alike: its gradient is rounding alone, which Adam makes large.
    for name in (name for name in alone if not name.endswith("k_proj.bias")):
        torch.testing.assert_close(ours[name], alone[name], atol=1e-4, rtol=0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_checkpoint_goes_from_two_to_two_to_the_bit(found, engine):
    assert found[f"{engine}-resumed"] == found[f"{engine}-fp32"][3:]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_checkpoint_goes_from_one_to_two_and_from_two_to_one(folder, found, engine, tmp_path):
    assert found[f"{engine}-from-one"] == pytest.approx(found["alone"][3:], abs=1e-5)
    assert len(checkpoints(folder / f"{engine}-fp32" / "checkpoints")) == 3
    back = together.resumed(folder / f"{engine}-fp32", Alone(), 0, 9, tmp_path / "one")
    assert back == pytest.approx(found["alone"][3:], abs=1e-5)
