"""G23: a published folder can run code when it is read."""

import json
import os
import pickle

import pytest
import torch

import sublayer
from sublayer.errors import CheckpointError, ConfigError

SETTINGS = {"model_type": "bert", "vocab_size": 7, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}


class Crafted:
    """Makes a folder when it is unpickled."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.mkdir, (self.marker,)


def folder(path, **settings):
    path.mkdir()
    (path / "config.json").write_text(json.dumps(SETTINGS | settings), encoding="utf-8")
    return path


@pytest.mark.parametrize("write", [pickle.dump, torch.save], ids=["pickle", "torch"])
@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors"])
def test_a_crafted_file_is_an_error_without_a_trace(tmp_path, name, write):
    published, marker = folder(tmp_path / "published"), tmp_path / "marker"
    with (published / name).open("wb") as file:
        write({"embeddings.word_embeddings.weight": Crafted(marker)}, file)
    with pytest.raises(CheckpointError, match=f"{name} cannot be read"):
        sublayer.from_pretrained(published)
    assert not marker.exists()


def test_code_that_a_folder_names_is_not_imported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "theirs.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    published = folder(tmp_path / "published", auto_map={"AutoModel": "theirs.Model"}, hidden_act="theirs:act")
    torch.save({"embeddings.word_embeddings.weight": torch.ones(7, 8)}, published / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="hidden_act is 'theirs:act'"):
        sublayer.from_pretrained(published)
