"""Tied embeddings are lost on the way to a file and back."""

import json
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

from sublayer.models import ModelConfig, load_weights, save_weights
from sublayer.models.build import build

NAMES = ["source_embed.tokens.weight", "target_embed.tokens.weight", "project.weight"]
ties = pytest.mark.parametrize("tie, names", [("target", NAMES[1:]), ("all", NAMES)])
SIZES = dict(source_vocab=11, target_vocab=11, d_model=8, num_heads=2, encoder_layers=1, decoder_layers=1)

ELSEWHERE = """
import json, sys
from pathlib import Path
import torch
from safetensors.torch import load_file, save_file
from sublayer.models import ModelConfig, load_weights
from sublayer.models.build import build
torch.set_num_threads(1)
folder = Path(sys.argv[1])
for tie in ("target", "all"):
    model = build(ModelConfig(tie=tie, **json.loads((folder / "sizes.json").read_text("utf-8")))).eval()
    load_weights(model, folder / f"{tie}.safetensors")
    assert model.project.weight is model.target_embed.tokens.weight
    assert (model.source_embed.tokens.weight is model.project.weight) == (tie == "all")
    ids = torch.arange(10).view(2, 5)
    save_file({"logits": model(ids, ids)}, folder / f"{tie}.logits")
"""


def one_object(model, names):
    return len({id(model.get_parameter(name)) for name in names}) == 1


def test_save_and_load_in_a_new_process(tmp_path, perturb):
    (tmp_path / "sizes.json").write_text(json.dumps(SIZES), encoding="utf-8")
    ids, expected = torch.arange(10).view(2, 5), {}
    for tie in ("target", "all"):
        model = perturb(build(ModelConfig(tie=tie, **SIZES))).eval()
        save_weights(model, tmp_path / f"{tie}.safetensors")
        expected[tie] = model(ids, ids)
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(tmp_path)], check=True)
    for tie, logits in expected.items():
        assert load_file(tmp_path / f"{tie}.logits")["logits"].equal(logits)


@ties
def test_the_file_holds_the_matrix_once_and_any_name_loads(tie, names, tmp_path, perturb):
    model, path = perturb(build(ModelConfig(tie=tie, **SIZES))).eval(), tmp_path / "model.safetensors"
    ids = torch.arange(10).view(2, 5)
    logits = model(ids, ids)
    save_weights(model, path)
    stored = load_file(path)
    assert [name for name in names if name in stored] == names[:1]
    matrix = stored.pop(names[0])
    for given in (names[:1], names[-1:], names):
        save_file(stored | {name: matrix.clone() for name in given}, path)
        other = build(ModelConfig(tie=tie, **SIZES)).eval()
        load_weights(other, path)
        assert one_object(other, names) and other(ids, ids).equal(logits)


@ties
def test_one_object_after_moves_and_steps(tie, names):
    model, ids = build(ModelConfig(tie=tie, **SIZES)), torch.arange(10).view(2, 5)
    model.to("cpu").to(torch.bfloat16).float()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    listed = [id(p) for group in optimiser.param_groups for p in group["params"]]
    assert len(listed) == len(set(listed))
    model(ids, ids).sum().backward()
    optimiser.step()
    assert one_object(model, names)


def test_parameters_are_counted_once():
    def count(tie):
        return sum(p.numel() for p in build(ModelConfig(tie=tie, **SIZES)).parameters())

    assert count("none") - count("target") == 11 * 8 + 11
    assert count("target") - count("all") == 11 * 8
