"""G36: published weights that are silently not loaded."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

import sublayer
from sublayer.errors import CheckpointError

SIZES = dict(vocab_size=11, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12)


@pytest.fixture
def folder(tmp_path):
    import transformers

    config = transformers.BertConfig(**SIZES, max_position_embeddings=9)
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
    return tmp_path


def test_renamed_missing_misshapen_and_extra_are_listed_in_their_names(folder):
    path = folder / "model.safetensors"
    held = load_file(path)
    held["bert.encoder.layer.0.attn.query.bias"] = held.pop("bert.encoder.layer.0.attention.self.query.bias")
    del held["cls.predictions.bias"]
    held["bert.encoder.layer.1.output.dense.weight"] = torch.ones(3, 3)
    held["bert.encoder.layer.2.output.dense.bias"] = torch.ones(8)
    save_file(held, path)
    with pytest.raises(CheckpointError) as caught:
        sublayer.from_pretrained(folder)
    title, *problems = str(caught.value).splitlines()
    assert title == f"{folder} does not fit the model:"
    assert sorted(problems) == [
        "  - missing: bert.encoder.layer.0.attention.self.query.bias (8,)",
        "  - missing: cls.predictions.bias (11,)",
        "  - not used: bert.encoder.layer.0.attn.query.bias (8,)",
        "  - not used: bert.encoder.layer.2.output.dense.bias (8,)",
        "  - shape: bert.encoder.layer.1.output.dense.weight is (3, 3), expected (8, 12)",
    ]


def test_a_file_of_fewer_layers_than_the_config_says_is_told(folder):
    settings = json.loads((folder / "config.json").read_text("utf-8")) | {"num_hidden_layers": 3}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"missing: bert\.encoder\.layer\.2\.attention\.self\.query\.weight"):
        sublayer.from_pretrained(folder)
