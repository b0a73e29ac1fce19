"""All layers start as copies of each other, or are one object."""

import itertools

import pytest
import torch

from sublayer.models import Transformer
from sublayer.nn import Encoder, EncoderLayer, FeedForward, MultiHeadAttention


def matrices(layer):
    return [p for p in layer.parameters() if p.dim() > 1]


def assert_independent(layers):
    for one, other in itertools.combinations(layers, 2):
        for a, b in zip(matrices(one), matrices(other), strict=True):
            assert a is not b and not a.equal(b)


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
def test_built_layers(tiny, architecture, position):
    model = tiny(architecture, position=position)
    for stack in ("encoder", "decoder"):
        if hasattr(model, stack):
            assert_independent(getattr(model, stack).layers)


def test_the_tutorials_model_and_the_four_maps_of_an_attention():
    model = Transformer(20, 20, 16, 3, 4, 32)
    assert_independent(model.encoder.layers)
    assert_independent(model.decoder.layers)
    layer = model.decoder.layers[0]
    for attend in (layer.self_attn, layer.cross_attn):
        assert_independent([attend.q_proj, attend.k_proj, attend.v_proj, attend.out_proj])


def test_injected_parts():
    layers = [EncoderLayer(16, MultiHeadAttention(16, 4), FeedForward(16, 32)) for _ in range(2)]
    encoder = Encoder(layers)
    assert_independent(encoder.layers)
    count = [sum(p.numel() for p in part.parameters()) for part in (encoder, *layers)]
    assert count[0] == count[1] + count[2] == 2 * count[1]
    before = layers[1].ffn.up.weight.clone()
    torch.nn.init.zeros_(layers[0].ffn.up.weight)
    assert layers[1].ffn.up.weight.equal(before)
