import copy

import pytest
import torch
from torch import nn

from sublayer.errors import ConfigError, ShapeError
from sublayer.inspect import attention_maps
from sublayer.models import inference, save_weights
from sublayer.models.decoding import TranslationDecoding
from sublayer.nn import (
    DecoderCache,
    Encoder,
    EncoderLayer,
    FeedForward,
    Int8Linear,
    Mask,
    MultiHeadAttention,
    PackedAttention,
)

VARIANTS = [
    {},
    {"norm_first": False, "activation": "gelu"},
    {"norm": "rmsnorm", "ffn": "swiglu", "bias": False},
    {"num_kv_heads": 2, "tie": "none"},
    {"dropout": 0.5, "attention_dropout": 0.5},
]


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_it_computes_the_same_numbers(tiny, ragged, position, settings):
    model, keep = tiny(position=position, **settings), ragged([6, 4])
    src, trg = torch.randint(13, (2, 6)), torch.randint(11, (2, 5))
    prepared = model.for_inference()
    torch.testing.assert_close(prepared(src, trg, keep), model(src, trg, keep), atol=1e-5, rtol=0)
    decoding = TranslationDecoding(prepared, src, Mask.padding(keep))
    steps = torch.stack([decoding.step(trg[:, t : t + 1]) for t in range(5)], 1)
    torch.testing.assert_close(steps, model(src, trg, keep).log_softmax(-1), atol=1e-5, rtol=0)


@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_so_do_encoders_and_language_models(tiny, ragged, position, architecture):
    model, keep = tiny(architecture, position=position), ragged([6, 4])
    ids = torch.randint(11, (2, 6))
    real = keep[..., None]
    torch.testing.assert_close(model.for_inference()(ids, keep) * real, model(ids, keep) * real, atol=1e-5, rtol=0)


def test_the_model_stays_as_it_was(tiny):
    model = tiny().train()
    before = copy.deepcopy(model.state_dict())
    prepared = model.for_inference()
    assert not any(part.training for part in prepared.modules())
    assert not any(p.requires_grad for p in prepared.parameters())
    assert model.training and all(p.requires_grad for p in model.parameters())
    assert type(model.encoder.layers[0].self_attn) is MultiHeadAttention
    assert model.state_dict().keys() == before.keys()
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    with torch.no_grad():
        prepared.project.weight.zero_()
    assert model.project.weight.any()


def test_a_type_can_be_chosen(tiny):
    model, src, trg = tiny(), torch.randint(13, (2, 6)), torch.randint(11, (2, 5))
    half = model.for_inference(torch.bfloat16)
    assert {p.dtype for p in half.parameters()} == {torch.bfloat16}
    torch.testing.assert_close(half(src, trg).float(), model(src, trg), atol=0.3, rtol=0)


def test_it_cannot_be_saved(tiny, tmp_path):
    with pytest.raises(ConfigError, match="inference form, which cannot be saved. Save the model that it was made"):
        save_weights(tiny().for_inference(), tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_its_attention_can_be_seen(tiny):
    model, src, trg = tiny(), torch.randint(13, (2, 6)), torch.randint(11, (2, 5))
    prepared = model.for_inference()
    with attention_maps(model) as expected, attention_maps(prepared) as maps:
        model(src, trg)
        prepared(src, trg)
    assert list(maps) == list(expected)
    for name, weights in expected.items():
        torch.testing.assert_close(maps[name], weights, atol=1e-5, rtol=0)


def test_modules_with_hooks_still_run_them(tiny):
    model, seen = tiny("encoder"), []
    model.encoder.layers[1].register_forward_hook(lambda module, args, out: seen.append(out.shape))
    model.for_inference()(torch.randint(13, (2, 6)))
    assert seen == [(2, 6, 16)]


class Mean(nn.Module):
    def forward(self, query, key, value, mask=None):
        return value.mean(1, keepdim=True).expand_as(query)


def test_parts_of_ones_own_stay(tiny):
    model = tiny("encoder")
    model.encoder = Encoder([EncoderLayer(16, Mean(), FeedForward(16))])
    model.eval()
    ids = torch.randint(13, (2, 6))
    prepared = model.for_inference()
    assert isinstance(prepared.encoder.layers[0].self_attn, Mean)
    torch.testing.assert_close(prepared(ids), model(ids))


def test_a_copy_of_it_is_one_too(tiny):
    prepared = tiny("encoder").for_inference()
    ids = torch.randint(13, (2, 6))
    other = copy.deepcopy(prepared)
    torch.testing.assert_close(other(ids), prepared(ids))
    with torch.no_grad():
        other.embed.tokens.weight.zero_()
    assert prepared.embed.tokens.weight.any()


def test_packed_attention_is_for_self_attention():
    attn, x = PackedAttention(MultiHeadAttention(8, 2)), torch.randn(1, 3, 8)
    with pytest.raises(ShapeError, match="pass one tensor as query, key and value"):
        attn(x, x, x.clone())


def test_packed_attention_continues_from_a_cache(tiny):
    prepared, ids = tiny("decoder").for_inference(), torch.randint(11, (2, 7))
    cache = DecoderCache(2)
    steps = [prepared(ids[:, a:b], cache=cache) for a, b in ((0, 3), (3, 4), (4, 7))]
    torch.testing.assert_close(torch.cat(steps, 1), prepared(ids), atol=1e-5, rtol=0)


def int8_maps(model):
    return [name for name, part in model.named_modules() if isinstance(part, Int8Linear)]


@pytest.fixture
def all_maps_are_large(monkeypatch):
    monkeypatch.setattr(inference, "LARGE", 0)


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_int8_is_close(tiny, ragged, all_maps_are_large, settings):
    model, keep = tiny(**settings), ragged([6, 4])
    src, trg = torch.randint(13, (2, 6)), torch.randint(11, (2, 5))
    prepared = model.for_inference(quantize="int8")
    names = set(int8_maps(prepared))
    assert not any(isinstance(part, nn.Linear) for part in prepared.modules())
    assert {"project", "encoder.layers.0.self_attn.in_proj", "decoder.layers.1.cross_attn.k_proj"} <= names
    expected, found = model(src, trg, keep), prepared(src, trg, keep)
    assert 0 < (found - expected).norm() / expected.norm() < 0.05
    decoding = TranslationDecoding(prepared, src, Mask.padding(keep))
    steps = torch.stack([decoding.step(trg[:, t : t + 1]) for t in range(5)], 1)
    torch.testing.assert_close(steps, found.log_softmax(-1), atol=0.1, rtol=0)


def test_int8_is_for_large_maps(tiny, monkeypatch):
    model = tiny()
    assert int8_maps(model.for_inference(quantize="int8")) == []
    large = model.encoder.layers[0].ffn.up.weight.numel()
    monkeypatch.setattr(inference, "LARGE", large)
    linear = {name: part.weight.numel() for name, part in model.named_modules() if isinstance(part, nn.Linear)}
    attention = {name for name in int8_maps(model.for_inference(quantize="int8")) if "ffn" not in name}
    assert {n for n, size in linear.items() if size >= large} == {n for n in linear if "ffn" in n}
    assert attention == {f"{side}coder.layers.{i}.self_attn.in_proj" for side in ("en", "de") for i in (0, 1)}
    assert isinstance(model.encoder.layers[0].ffn.up, nn.Linear)


def test_a_tied_embedding_stays_as_it_is(tiny, all_maps_are_large):
    model = tiny(tie="target")
    prepared = model.for_inference(quantize="int8")
    assert torch.equal(prepared.target_embed.tokens.weight, model.target_embed.tokens.weight)


def test_int8_cannot_be_saved_either(tiny, all_maps_are_large, tmp_path):
    with pytest.raises(ConfigError, match="inference form, which cannot be saved"):
        save_weights(
            nn.Sequential(tiny("encoder").for_inference(quantize="int8").encoder.layers[0].ffn), tmp_path / "m"
        )


def test_another_quantization_is_refused(tiny):
    with pytest.raises(ConfigError, match="quantize='int4' is unknown. Write quantize='int8', or leave it out"):
        tiny().for_inference(quantize="int4")
