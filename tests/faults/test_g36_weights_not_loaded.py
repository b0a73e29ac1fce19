"""Weights that do not fit are left out, and the model stays random without a word."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from sublayer.errors import CheckpointError
from sublayer.models import load_weights, save_weights


def test_renamed_missing_misshapen_and_extra_are_listed_with_their_shapes(tiny, tmp_path):
    model, path = tiny("encoder"), tmp_path / "model.safetensors"
    before = {name: x.clone() for name, x in model.state_dict().items()}
    save_weights(tiny("encoder"), path)
    state = load_file(path)
    state["encoder.layers.0.attention.q_proj.bias"] = state.pop("encoder.layers.0.self_attn.q_proj.bias")
    del state["encoder.norm.bias"]
    state["encoder.layers.1.ffn.up.weight"] = torch.ones(3, 3)
    state["pooler.weight"] = torch.ones(2, 2)
    save_file(state, path)
    with pytest.raises(CheckpointError) as caught:
        load_weights(model, path)
    title, *problems = str(caught.value).splitlines()
    assert title == f"{path} does not fit the model:"
    assert sorted(problems) == [
        "  - missing: encoder.layers.0.self_attn.q_proj.bias (16,)",
        "  - missing: encoder.norm.bias (16,)",
        "  - not used: encoder.layers.0.attention.q_proj.bias (16,)",
        "  - not used: pooler.weight (2, 2)",
        "  - shape: encoder.layers.1.ffn.up.weight is (3, 3), expected (24, 16)",
    ]
    assert all(before[name].equal(x) for name, x in model.state_dict().items())


def test_loading_draws_nothing_and_leaves_every_tensor_as_in_the_file(tiny, tmp_path):
    model, path = tiny(), tmp_path / "model.safetensors"
    save_weights(model, path)
    other = tiny(norm_first=True).apply(lambda part: None)
    with torch.no_grad():
        for p in other.parameters():
            p.fill_(7.0)
    drawn = torch.get_rng_state()
    load_weights(other, path)
    assert torch.get_rng_state().equal(drawn)
    assert all(x.equal(model.state_dict()[name]) for name, x in other.state_dict().items())
