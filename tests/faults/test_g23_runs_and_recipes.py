"""G23: no path of a run (resume, load, recipe) runs code from a file."""

import os
import pickle
import shutil
from hashlib import sha256

import pytest
import torch
from tests.runs import Heard, command, tiny_recipe, words, write_pairs

from sublayer.errors import CheckpointError, ConfigError
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import read_recipe


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    recipe = tiny_recipe(write_pairs(folder / "train.tsv", words()[:20]), steps=8, save_every=4, keep=2)
    fit(recipe, folder / "run", Heard())
    shutil.rmtree(folder / "run" / "checkpoints" / "step-00000008")
    return recipe, folder / "run"


class Crafted:
    """Makes a folder when it is unpickled."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.mkdir, (self.marker,)


@pytest.mark.parametrize("write", [pickle.dump, torch.save], ids=["pickle", "torch"])
@pytest.mark.parametrize("name", ["state.json", "state.safetensors", "model.safetensors"])
def test_a_crafted_checkpoint_is_an_error_without_a_trace(finished, tmp_path, name, write):
    recipe, folder = finished
    run = shutil.copytree(folder, tmp_path / "run")
    path, marker = run / "checkpoints" / "step-00000004" / name, tmp_path / "marker"
    with path.open("wb") as file:
        write({"weight": Crafted(marker)}, file)
    with pytest.raises(CheckpointError, match=f"step-00000004: {name} is not what was written"):
        fit(recipe, run, Heard(), resume=True)
    sums = path.parent / "SHA256SUMS"
    files = [line.split()[-1] for line in sums.read_text().splitlines()]
    sums.write_text("".join(f"{sha256((path.parent / f).read_bytes()).hexdigest()}  {f}\n" for f in files))
    with pytest.raises(
        CheckpointError, match="step-00000004.* (is no checkpoint|cannot be read as a safetensors file)"
    ):
        fit(recipe, run, Heard(), resume=True)
    assert command("train", "--resume", "--out", run).code == 2
    assert not marker.exists()


@pytest.mark.parametrize(
    "name", ["config.json", "task.json", "tokenizer.json", "target_tokenizer.json", "model.safetensors"]
)
def test_a_crafted_run_folder_too(finished, tmp_path, name):
    run = shutil.copytree(finished[1], tmp_path / "run")
    marker = tmp_path / "marker"
    (run / name).write_bytes(pickle.dumps(Crafted(marker)))
    with pytest.raises(CheckpointError, match=name):
        load(run)
    assert not marker.exists()


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.mkdir [{marker}]",
        "!!python/object/new:os.mkdir [{marker}]",
        "train: {{steps: !!python/object/apply:os.mkdir [{marker}]}}",
        "task: !!python/name:os.mkdir",
    ],
)
def test_a_recipe_makes_no_objects(tmp_path, text):
    marker = tmp_path / "marker"
    (tmp_path / "r.yaml").write_text(text.format(marker=marker), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"r.yaml is not YAML: (?s:.*)python/"):
        read_recipe(tmp_path / "r.yaml")
    said = command("train", tmp_path / "r.yaml", "--out", tmp_path / "run")
    assert said.code == 2 and "r.yaml is not YAML" in said.err
    assert command("validate", tmp_path / "r.yaml").code == 2
    assert not marker.exists()
