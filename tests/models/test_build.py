import sys
import types

import pytest
import torch
from torch import nn

from sublayer.errors import ConfigError
from sublayer.models import CausalLM, EncoderDecoder, EncoderModel, ModelConfig
from sublayer.models.build import build
from sublayer.nn import (
    Alibi,
    Dropout,
    Eager,
    FeatureEmbeddings,
    Fused,
    Learned,
    Linear,
    Local,
    Mask,
    MultiHeadAttention,
    RelativeBias,
    RMSNorm,
    Rotary,
    Sinusoidal,
    StochasticDepth,
)

ARCHITECTURES = {"encoder-decoder": EncoderDecoder, "encoder": EncoderModel, "decoder": CausalLM}


def run(model):
    src, trg = torch.randint(11, (2, 5)), torch.randint(11, (2, 4))
    return model(src, trg) if isinstance(model, EncoderDecoder) else model(src)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("train", [True, False])
def test_every_position_in_every_architecture(tiny, architecture, position, norm_first, train):
    model = tiny(architecture, position=position, norm_first=norm_first, num_kv_heads=2).train(train)
    assert type(model) is ARCHITECTURES[architecture]
    shape = {"encoder-decoder": (2, 4, 11), "encoder": (2, 5, 16), "decoder": (2, 5, 11)}[architecture]
    output = run(model)
    assert output.shape == shape and output.isfinite().all()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("settings", [{}, {"tie": "none"}, {"norm_first": False}, {"ffn": "swiglu", "bias": False}])
def test_the_gradient_reaches_every_parameter(tiny, architecture, position, settings):
    model = tiny(architecture, position=position, **settings).train()
    run(model).square().mean().backward()
    without = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.isfinite().all()]
    assert without == []
    # Adding a constant to all scores of a row changes nothing: only the keys' biases have no say.
    still = [name for name, p in model.named_parameters() if p.grad.abs().max() < 1e-7]
    assert all("k_proj.bias" in name for name in still)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_parameters_are_layers_times_those_of_a_layer(tiny, architecture):
    def count(layers):
        sizes = {"encoder_layers": layers, "decoder_layers": layers}
        return sum(p.numel() for p in tiny(architecture, **sizes).parameters())

    attention, ffn, norm = 4 * (16 * 16 + 16), 16 * 24 + 24 + 24 * 16 + 16, 2 * 16
    layer = {
        "encoder": attention + ffn + 2 * norm,
        "decoder": attention + ffn + 2 * norm,
        "encoder-decoder": 3 * attention + 2 * ffn + 5 * norm,
    }[architecture]
    assert count(3) - count(1) == 2 * layer


def test_positions_stand_where_they_belong(tiny):
    assert isinstance(tiny(position="sinusoidal").source_embed.positions, Sinusoidal)
    learned = tiny(position={"kind": "learned", "offset": 2}).target_embed.positions
    assert isinstance(learned, Learned) and learned.offset == 2 and learned.max_len == 32
    rotary = tiny(position={"kind": "rotary", "theta": 500.0})
    assert isinstance(rotary.encoder.layers[0].self_attn.rotate, Rotary)
    assert rotary.decoder.layers[1].self_attn.rotate.theta == 500.0
    assert rotary.decoder.layers[1].cross_attn.rotate is None and rotary.source_embed.positions is None
    relative = tiny(position={"kind": "relative", "buckets": 8, "max_distance": 20})
    assert isinstance(relative.encoder.bias, RelativeBias) and relative.encoder.bias.bidirectional
    assert not relative.decoder.bias.bidirectional and relative.decoder.bias.buckets == 8
    assert isinstance(tiny(position="alibi").decoder.bias, Alibi)
    assert tiny(position="none").encoder.bias is None


def test_options_of_a_part_win_over_the_general_ones(tiny):
    model = tiny(ffn={"kind": "feedforward", "activation": "tanh", "bias": False}, norm={"kind": "rmsnorm", "eps": 0.1})
    ffn = model.encoder.layers[0].ffn
    assert ffn.act is torch.tanh or ffn.act is torch.nn.functional.tanh
    assert ffn.up.bias is None and model.encoder.layers[0].self_attn.q_proj.bias is not None
    assert isinstance(model.encoder.norm, RMSNorm) and model.encoder.norm.eps == 0.1


def test_the_dropouts(tiny):
    model = tiny(dropout=0.3, attention_dropout=0.2)
    layer = model.decoder.layers[0]
    assert layer.cross_attn.dropout == layer.self_attn.dropout == 0.2
    dropouts = {name: part.p for name, part in model.named_modules() if isinstance(part, Dropout)}
    assert set(dropouts.values()) == {0.3} and len(dropouts) == 2 + 2 * 3 + 2 * 4


def test_a_kernel_by_name(tiny):
    assert isinstance(tiny(kernel="eager").encoder.layers[1].self_attn.kernel, Eager)
    assert isinstance(tiny(kernel="eager").decoder.layers[1].cross_attn.kernel, Eager)


@pytest.mark.parametrize("kernel, made", [({"kind": "local", "window": 3}, Local), ("linear", Linear)], ids=str)
def test_a_kernel_for_length_is_of_self_attention_alone(tiny, kernel, made):
    model = tiny(kernel=kernel)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        assert isinstance(layer.self_attn.kernel, made)
    assert all(isinstance(layer.cross_attn.kernel, Fused) for layer in model.decoder.layers)


def test_the_window_of_a_recipe_is_that_of_the_model(tiny):
    ids = torch.randint(11, (2, 9))
    local, fused = (tiny("encoder", kernel=kernel) for kernel in ({"kind": "local", "window": 3}, "fused"))
    fused.load_state_dict(local.state_dict())
    torch.testing.assert_close(local(ids), fused(ids, Mask(window=3)), atol=1e-5, rtol=0)
    assert not local(ids).allclose(fused(ids), atol=1e-3)


def test_pre_norm_ends_in_a_norm_and_post_norm_does_not(tiny):
    pre, post = tiny(), tiny(norm_first=False)
    assert pre.encoder.norm is not None and pre.decoder.norm is not None
    assert post.encoder.norm is None and post.decoder.norm is None


def test_tying(tiny):
    none, target, everything = (tiny(tie=tie, source_vocab=11) for tie in ("none", "target", "all"))
    assert none.project.weight is not none.target_embed.tokens.weight and none.project.bias is not None
    assert target.project.weight is target.target_embed.tokens.weight and target.project.bias is None
    assert target.source_embed.tokens.weight is not target.project.weight
    assert everything.source_embed.tokens.weight is everything.project.weight
    lm = tiny("decoder")
    assert lm.project.weight is lm.embed.tokens.weight


def test_features(tiny):
    model = tiny(first_feature=9)
    assert isinstance(model.source_embed, FeatureEmbeddings)
    assert not isinstance(model.target_embed, FeatureEmbeddings)


class OwnFeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout, *, bias, activation, power=1):
        super().__init__()
        self.map, self.power = nn.Linear(d_model, d_model, bias=bias), power

    def forward(self, x):
        return self.map(x) ** self.power


class OwnNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return x / (1 + x.abs()) * self.gain


class OwnPosition(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, index, end):
        return index[..., None].float().expand(*index.shape, self.d_model)


def test_parts_of_ones_own(tiny, monkeypatch):
    own = types.ModuleType("own_parts")
    own.FeedForward, own.Norm, own.Position, own.Kernel = OwnFeedForward, OwnNorm, OwnPosition, Eager
    monkeypatch.setitem(sys.modules, "own_parts", own)
    model = tiny(
        ffn={"kind": "own_parts:FeedForward", "power": 2},
        norm="own_parts:Norm",
        position="own_parts:Position",
        kernel="own_parts:Kernel",
    )
    assert model.encoder.layers[0].ffn.power == 2
    assert isinstance(model.decoder.layers[0].sublayer_cross.norm, OwnNorm)
    assert isinstance(model.source_embed.positions, OwnPosition)
    assert run(model).isfinite().all()


@pytest.mark.parametrize("part", ["norm", "ffn", "kernel", "position"])
def test_an_unknown_option_of_a_part_is_refused(tiny, part):
    kind = {"norm": "layernorm", "ffn": "feedforward", "kernel": "eager", "position": "learned"}[part]
    with pytest.raises(ConfigError, match=rf"model\.{part}: '{kind}' takes no 'colour'"):
        tiny(**{part: {"kind": kind, "colour": 1}})


@pytest.mark.parametrize("architecture, side", [("encoder", "source"), ("decoder", "target")])
def test_a_missing_vocabulary_size_is_told(architecture, side):
    with pytest.raises(ConfigError, match=rf"{side}_vocab is not set: an {architecture} model needs the size"):
        build(ModelConfig(architecture=architecture))


def test_the_generator_decides_the_weights():
    config = ModelConfig(source_vocab=5, target_vocab=5, d_model=8, encoder_layers=1, decoder_layers=1)
    torch.manual_seed(3)
    one = build(config).state_dict()
    torch.manual_seed(3)
    two = build(config).state_dict()
    assert all(one[name].equal(two[name]) for name in one)


def test_how_attention_differs(tiny):
    attend = tiny("encoder", attention={"width": 6, "scale": 0.5, "bias": True}, bias=False).encoder.layers[0].self_attn
    assert attend.d_k == attend.d_v == 6 and attend.scale == 0.5
    assert attend.q_proj.bias is not None and attend.out_proj.bias is None
    rotary = tiny("encoder", attention={"width": 6}, position="rotary", d_model=18, num_heads=4)
    assert rotary.encoder.layers[0].self_attn.rotate.d_k == 6


def test_what_stands_between_ids_and_the_stream(tiny):
    embed = tiny("encoder", embedding={"scale": 1.0, "token_types": 2, "norm": True}, norm="rmsnorm").embed
    assert embed.scale == 1.0 and embed.types.num_embeddings == 2 and isinstance(embed.norm, RMSNorm)
    narrow = tiny("encoder", embedding={"width": 6}, position="learned").embed
    assert narrow.tokens.embedding_dim == narrow.positions.table.embedding_dim == 6
    assert narrow(torch.tensor([[1, 2]])).shape == (1, 2, 16)


def test_the_output_map(tiny):
    plain = tiny("decoder", tie="none")
    scaled = tiny("decoder", tie="none", output_scaled=True)
    scaled.load_state_dict(plain.state_dict())
    x = torch.randn(2, 5, 16)
    torch.testing.assert_close(scaled.project(x), plain.project(x / 4))
    assert tiny("decoder", tie="none", output_bias=False).project.bias is None
    assert tiny("decoder", output_bias=True).project.bias is not None


def test_layers_with_their_own_positions_in_the_scores(tiny):
    model = tiny(position="layer-relative")
    tables = [layer.self_attn.bias.table.weight for layer in (*model.encoder.layers, *model.decoder.layers)]
    assert len({table.data_ptr() for table in tables}) == 4 and model.encoder.bias is None
    assert model.encoder.layers[0].self_attn.bias.bidirectional
    assert not model.decoder.layers[0].self_attn.bias.bidirectional
    assert isinstance(model.decoder.layers[0].cross_attn, MultiHeadAttention)


def test_embeddings_tied_and_an_output_map_of_its_own(tiny):
    model = tiny(source_vocab=11, tie="inputs")
    assert model.source_embed.tokens.weight is model.target_embed.tokens.weight
    assert model.project.weight is not model.target_embed.tokens.weight and model.project.bias is not None


def test_most_layers_of_an_encoder_see_only_what_is_near(tiny):
    local = {"every": 3, "window": 2, "theta": 100.0}
    layers = tiny("encoder", position="rotary", local_layers=local, encoder_layers=4, first_norm=False).encoder.layers
    assert [type(layer.self_attn.kernel) for layer in layers] == [Fused, Local, Local, Fused]
    assert [layer.self_attn.rotate.theta for layer in layers] == [10000.0, 100.0, 100.0, 10000.0]
    assert layers[1].self_attn.kernel.near.window == 2
    assert [isinstance(layer.sublayer_attn.norm, nn.Identity) for layer in layers] == [True, False, False, False]


def test_the_deeper_a_layer_the_more_is_skipped_in_training():
    sizes = dict(source_vocab=9, target_vocab=9, d_model=8, num_heads=2, encoder_layers=4, decoder_layers=2)
    model = build(ModelConfig(**sizes, layer_drop=0.2))
    assert [layer.sublayer_ffn.skip for layer in model.encoder.layers] == pytest.approx([0.05, 0.1, 0.15, 0.2])
    assert [layer.sublayer_cross.skip for layer in model.decoder.layers] == pytest.approx([0.1, 0.2])
    plain = build(ModelConfig(**sizes))
    assert plain.state_dict().keys() == model.state_dict().keys()
    assert not any(isinstance(part, StochasticDepth) for part in plain.modules())
