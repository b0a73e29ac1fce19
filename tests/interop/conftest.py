"""A published folder made by hand: no library but ours is needed to write one."""

import json

import pytest
import torch
from safetensors.torch import save_file

SETTINGS = {
    "model_type": "bert",
    "architectures": ["BertForMaskedLM"],
    "vocab_size": 7,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 9,
}


def tensors():
    """Those of BertForMaskedLM, by name."""

    def linear(name, rows, columns):
        return {f"{name}.weight": torch.randn(rows, columns), f"{name}.bias": torch.randn(rows)}

    def norm(name):
        return {f"{name}.weight": torch.randn(8), f"{name}.bias": torch.randn(8)}

    layer = "bert.encoder.layer.0"
    made = {f"bert.embeddings.{kind}_embeddings.weight": torch.randn(n, 8) for kind, n in TABLES.items()}
    made |= norm("bert.embeddings.LayerNorm") | norm(f"{layer}.attention.output.LayerNorm")
    for part in ("query", "key", "value"):
        made |= linear(f"{layer}.attention.self.{part}", 8, 8)
    made |= linear(f"{layer}.attention.output.dense", 8, 8) | linear(f"{layer}.intermediate.dense", 12, 8)
    made |= linear(f"{layer}.output.dense", 8, 12) | norm(f"{layer}.output.LayerNorm")
    made |= linear("cls.predictions.transform.dense", 8, 8) | norm("cls.predictions.transform.LayerNorm")
    return made | {"cls.predictions.bias": torch.randn(7)}


TABLES = {"word": 7, "position": 9, "token_type": 2}


@pytest.fixture
def published(tmp_path):
    """published(tensors, name="model.safetensors", **settings) writes a folder and says where it is."""

    def published(held=None, name="model.safetensors", **settings):
        folder = tmp_path / "published"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(SETTINGS | settings), encoding="utf-8")
        held = tensors() if held is None else held
        path = folder / name
        save_file(held, path) if name.endswith(".safetensors") else torch.save(held, path)
        return folder

    return published


@pytest.fixture
def held():
    return tensors()
