"""Scaled rotary positions of Llama's kind against transformers, in the present form of config.json and the former."""

import json

import pytest
import torch
import transformers
from tests.parity.published import comes_back, loads, save

from sublayer.errors import ConfigError
from sublayer.interop.pretrained import from_pretrained

SIZES = dict(vocab_size=29, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2)
SIZES |= dict(
    intermediate_size=24,
    max_position_embeddings=64,
    initializer_range=0.2,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=0,
)
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}
SCALINGS = {"llama3": {"rope_type": "llama3", **LLAMA3}, "linear": {"rope_type": "linear", "factor": 2.5}}
MODELS = {"LlamaForCausalLM": "LlamaConfig", "MistralForCausalLM": "MistralConfig", "Qwen2ForCausalLM": "Qwen2Config"}


def theirs(folder, perturb, scaling, architecture="LlamaForCausalLM", former=False):
    config = getattr(transformers, MODELS[architecture])(**SIZES, rope_parameters=scaling | {"rope_theta": 500.0})
    model = save(architecture, config, folder, perturb)
    if former:
        about = json.loads((folder / "config.json").read_text("utf-8"))
        held = about.pop("rope_parameters")
        about |= {"rope_theta": held.pop("rope_theta"), "rope_scaling": {"type": held.pop("rope_type"), **held}}
        (folder / "config.json").write_text(json.dumps(about), "utf-8")
    return model


@pytest.mark.parametrize("former", [False, True])
@pytest.mark.parametrize("kind", SCALINGS)
def test_logits(kind, former, tmp_path, perturb):
    expected = theirs(tmp_path / "theirs", perturb, SCALINGS[kind], former=former)
    ours = comes_back(tmp_path / "theirs", tmp_path / "ours")
    ids = torch.randint(3, 29, (2, 40))
    with torch.no_grad():
        logits = expected(ids).logits
        assert loads("LlamaForCausalLM", tmp_path / "ours")(ids).logits.allclose(logits, atol=1e-6)
    torch.testing.assert_close(ours.model(ids), logits, atol=1e-5, rtol=1e-5)
    plain = ours.model.decoder.layers[0].self_attn.rotate.frequencies
    assert not plain.allclose(500.0 ** (-torch.arange(0, 16, 2) / 16))


@pytest.mark.parametrize("architecture", ["MistralForCausalLM", "Qwen2ForCausalLM"])
def test_of_its_relatives(architecture, tmp_path, perturb):
    expected, ids = theirs(tmp_path, perturb, SCALINGS["llama3"], architecture), torch.randint(3, 29, (1, 40))
    with torch.no_grad():
        torch.testing.assert_close(from_pretrained(tmp_path).model(ids), expected(ids).logits, atol=1e-5, rtol=1e-5)


def test_settings_that_changed_are_written_anew(tmp_path, perturb):
    theirs(tmp_path, perturb, SCALINGS["llama3"])
    ours = from_pretrained(tmp_path)
    changed = ours.config.model_copy(update={"attention_dropout": 0.1})
    settings = ours.family.settings(changed, ours.head, ours.theirs)
    assert settings["rope_parameters"] == {**SCALINGS["llama3"], "rope_theta": 500.0}
    assert ours.family.config(settings, ours.head) == changed


@pytest.mark.parametrize(
    "scaling, words",
    [
        (
            {"rope_type": "yarn", "factor": 2.0},
            "is of the type 'yarn', and default, linear, llama3 can be read. A model ",
        ),
        ({"type": "dynamic", "factor": 2.0}, "where your texts are no longer, write 'default'"),
        ({"rope_type": "llama3", "factor": 2.0}, "lacks low_freq_factor, high_freq_factor, original_max_position"),
        ({"rope_type": "default", "partial_rotary_factor": 0.5}, "has partial_rotary_factor=0.5, which has no counter"),
    ],
)
def test_other_scalings_are_refused_by_name(scaling, words, tmp_path, perturb):
    theirs(tmp_path, perturb, SCALINGS["linear"])
    about = json.loads((tmp_path / "config.json").read_text("utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(about | {"rope_parameters": scaling}), "utf-8")
    with pytest.raises(ConfigError) as caught:
        from_pretrained(tmp_path)
    assert "rope_parameters" in str(caught.value) and words in str(caught.value)
