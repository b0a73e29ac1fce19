"""A model file can run code when it is read."""

import os
import pickle

import pytest
import torch
from torch import nn

from sublayer.errors import CheckpointError
from sublayer.models import load_weights


@pytest.mark.parametrize("write", [lambda x, f: pickle.dump(x, f), torch.save], ids=["pickle", "torch"])
def test_a_crafted_file_gives_an_error_and_leaves_no_trace(write, tmp_path):
    marker, path = tmp_path / "marker", tmp_path / "model.safetensors"

    class Crafted:
        def __reduce__(self):
            return os.mkdir, (str(marker),)

    with path.open("wb") as file:
        write({"weight": Crafted()}, file)
    with pytest.raises(CheckpointError, match=r"model\.safetensors cannot be read as a safetensors file"):
        load_weights(nn.Linear(2, 2), path)
    assert not marker.exists()
