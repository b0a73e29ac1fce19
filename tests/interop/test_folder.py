import json

import pytest
import torch
from safetensors.torch import save_file

from sublayer.errors import CheckpointError
from sublayer.interop.folder import read_tensors

HELD = {"a": torch.ones(2), "b": torch.zeros(3), "c": torch.ones(1)}


def shards(folder, suffix="safetensors", **where):
    """Two files and their index; `where` changes what the index says."""
    stem = "model" if suffix == "safetensors" else "pytorch_model"
    save = save_file if suffix == "safetensors" else torch.save
    save({"a": HELD["a"]}, folder / f"{stem}-1.{suffix}")
    save({"b": HELD["b"], "c": HELD["c"]}, folder / f"{stem}-2.{suffix}")
    listed = {"a": f"{stem}-1.{suffix}", "b": f"{stem}-2.{suffix}", "c": f"{stem}-2.{suffix}"} | where
    index = {"metadata": {}, "weight_map": {k: v for k, v in listed.items() if v}}
    (folder / f"{stem}.{suffix}.index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


def told(folder):
    with pytest.raises(CheckpointError) as caught:
        read_tensors(folder)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("suffix", ["safetensors", "bin"])
def test_shards_are_one(tmp_path, suffix):
    found = read_tensors(shards(tmp_path, suffix))
    assert found.keys() == HELD.keys() and all(found[name].equal(HELD[name]) for name in HELD)


def test_one_file_goes_before_shards_and_safetensors_before_pickles(tmp_path):
    shards(tmp_path, "bin")
    torch.save({"old": torch.ones(1)}, tmp_path / "pytorch_model.bin")
    assert read_tensors(tmp_path).keys() == {"old"}
    shards(tmp_path)
    assert read_tensors(tmp_path).keys() == HELD.keys()
    save_file({"new": torch.ones(1)}, tmp_path / "model.safetensors")
    assert read_tensors(tmp_path).keys() == {"new"}


@pytest.mark.parametrize("old_form", [True, False])
def test_a_bin_file_of_either_form(tmp_path, old_form):
    torch.save(HELD, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=not old_form)
    assert read_tensors(tmp_path)["b"].equal(HELD["b"])


def test_an_index_that_is_wrong(tmp_path):
    where = "model-2.safetensors"
    assert told(shards(tmp_path, d=where, b=""))[1:] == [f"  - missing: d in {where}", f"  - not listed: b in {where}"]
    assert told(shards(tmp_path, d="../x.safetensors"))[1:] == ["  - ../x.safetensors"]
    (tmp_path / "model.safetensors.index.json").write_text("{}", encoding="utf-8")
    assert "has no weight_map" in told(tmp_path)[0]


def test_a_folder_without_weights(tmp_path):
    assert told(tmp_path) == [
        f"{tmp_path} holds no weights: expected one of model.safetensors, model.safetensors.index.json, "
        "pytorch_model.bin, pytorch_model.bin.index.json."
    ]
    torch.save({"a": [1, 2]}, tmp_path / "pytorch_model.bin")
    assert "holds something else than tensors by name" in told(tmp_path)[0]
