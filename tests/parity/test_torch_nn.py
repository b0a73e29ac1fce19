"""Our parts against those of torch.nn: the same weights, perturbed, give the same values and the same gradients."""

import pytest
import torch
from torch import nn

from sublayer.interop.rule import invert, load
from sublayer.interop.torch_nn import (
    DECODER,
    DECODER_LAYER,
    ENCODER,
    ENCODER_LAYER,
    MULTIHEAD_ATTENTION,
    TRANSFORMER,
)
from sublayer.nn import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    Mask,
    MultiHeadAttention,
    SublayerConnection,
)

D, H, FF, B, T, S = 16, 4, 24, 3, 5, 7
SIZES = dict(dim_feedforward=FF, dropout=0.0, batch_first=True)
pytestmark = pytest.mark.parametrize("train", [True, False], ids=["train", "eval"])


def connect(norm_first):
    def connect(d_model, dropout):
        return SublayerConnection(d_model, dropout, norm_first=norm_first)

    return connect


def encoder_layer(norm_first):
    parts = MultiHeadAttention(D, H, dropout=0.0), FeedForward(D, FF, 0.0)
    return EncoderLayer(D, *parts, 0.0, connect=connect(norm_first))


def decoder_layer(norm_first):
    parts = MultiHeadAttention(D, H, dropout=0.0), FeedForward(D, FF, 0.0)
    read = MultiHeadAttention(D, H, dropout=0.0)
    return DecoderLayer(D, *parts, 0.0, cross_attn=read, connect=connect(norm_first))


def future(length):
    """True = hidden, as torch.nn has it."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def assert_equal(ours, theirs, table, our_output, their_output, keep):
    """Values and, through a loss over what is kept, the gradients of all parameters."""
    torch.testing.assert_close(our_output[keep], their_output[keep], atol=1e-5, rtol=1e-5)
    weight = torch.randn(our_output.shape)
    ((our_output * weight)[keep]).sum().backward()
    ((their_output * weight)[keep]).sum().backward()
    gradients = invert(table, {name: p.grad for name, p in ours.named_parameters()})
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad, atol=3e-5, rtol=1e-4, msg=name)


@pytest.fixture
def keep(ragged):
    return ragged([T, 3, 1])


@pytest.fixture
def source(ragged):
    return ragged([4, S, 2])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_multihead_attention(train, causal, bias, perturb, keep):
    theirs = perturb(nn.MultiheadAttention(D, H, bias=bias, batch_first=True)).train(train)
    ours = MultiHeadAttention(D, H, bias=bias, dropout=0.0).train(train)
    load(ours, MULTIHEAD_ATTENTION, theirs.state_dict())
    x = torch.randn(B, T, D)
    hidden = future(T) if causal else None
    expected, _ = theirs(x, x, x, ~keep, attn_mask=hidden, need_weights=False)
    actual = ours(x, x, x, Mask.padding(keep) & Mask(causal=causal))
    assert_equal(ours, theirs, MULTIHEAD_ATTENTION, actual, expected, keep)


def test_multihead_attention_between_two_lengths(train, perturb, source):
    theirs = perturb(nn.MultiheadAttention(D, H, batch_first=True)).train(train)
    ours = MultiHeadAttention(D, H, dropout=0.0).train(train)
    load(ours, MULTIHEAD_ATTENTION, theirs.state_dict())
    query, key, value = torch.randn(B, T, D), torch.randn(B, S, D), torch.randn(B, S, D)
    expected, _ = theirs(query, key, value, ~source, need_weights=False)
    actual = ours(query, key, value, source)
    assert_equal(ours, theirs, MULTIHEAD_ATTENTION, actual, expected, torch.ones(B, T, dtype=torch.bool))


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
@pytest.mark.parametrize("causal", [False, True])
def test_encoder_layer(train, norm_first, causal, perturb, keep):
    theirs = perturb(nn.TransformerEncoderLayer(D, H, norm_first=norm_first, **SIZES)).train(train)
    ours = encoder_layer(norm_first).train(train)
    load(ours, ENCODER_LAYER, theirs.state_dict())
    x = torch.randn(B, T, D)
    expected = theirs(x, future(T) if causal else None, ~keep)
    actual = ours(x, Mask.padding(keep) & Mask(causal=causal))
    assert_equal(ours, theirs, ENCODER_LAYER, actual, expected, keep)


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
def test_decoder_layer(train, norm_first, perturb, keep, source):
    theirs = perturb(nn.TransformerDecoderLayer(D, H, norm_first=norm_first, **SIZES)).train(train)
    ours = decoder_layer(norm_first).train(train)
    load(ours, DECODER_LAYER, theirs.state_dict())
    x, memory = torch.randn(B, T, D), torch.randn(B, S, D)
    expected = theirs(
        x, memory, future(T), tgt_key_padding_mask=~keep, memory_key_padding_mask=~source, tgt_is_causal=True
    )
    actual = ours(x, memory, Mask.padding(keep) & Mask(causal=True), Mask.padding(source))
    assert_equal(ours, theirs, DECODER_LAYER, actual, expected, keep)


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
def test_encoder(train, norm_first, perturb, keep):
    layer = nn.TransformerEncoderLayer(D, H, norm_first=norm_first, **SIZES)
    norm = nn.LayerNorm(D) if norm_first else None
    theirs = perturb(nn.TransformerEncoder(layer, 3, norm, enable_nested_tensor=False)).train(train)
    ours = Encoder((encoder_layer(norm_first) for _ in range(3)), LayerNorm(D) if norm_first else None).train(train)
    load(ours, ENCODER, theirs.state_dict())
    x = torch.randn(B, T, D)
    expected = theirs(x, src_key_padding_mask=~keep)
    assert_equal(ours, theirs, ENCODER, ours(x, keep), expected, keep)


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
def test_decoder(train, norm_first, perturb, keep, source):
    layer = nn.TransformerDecoderLayer(D, H, norm_first=norm_first, **SIZES)
    theirs = perturb(nn.TransformerDecoder(layer, 2, nn.LayerNorm(D))).train(train)
    ours = Decoder((decoder_layer(norm_first) for _ in range(2)), LayerNorm(D)).train(train)
    load(ours, DECODER, theirs.state_dict())
    x, memory = torch.randn(B, T, D), torch.randn(B, S, D)
    expected = theirs(x, memory, future(T), memory_key_padding_mask=~source, tgt_is_causal=True)
    actual = ours(x, memory, Mask(causal=True), source)
    assert_equal(ours, theirs, DECODER, actual, expected, torch.ones_like(keep))


class EncoderAndDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, src, trg, src_mask, trg_mask):
        return self.decoder(trg, self.encoder(src, src_mask), trg_mask, src_mask)


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_transformer(train, norm_first, perturb, keep, source):
    theirs = perturb(nn.Transformer(D, H, 2, 2, norm_first=norm_first, **SIZES)).train(train)
    theirs.encoder.enable_nested_tensor = theirs.encoder.use_nested_tensor = False
    ours = EncoderAndDecoder(
        Encoder((encoder_layer(norm_first) for _ in range(2)), LayerNorm(D)),
        Decoder((decoder_layer(norm_first) for _ in range(2)), LayerNorm(D)),
    ).train(train)
    load(ours, TRANSFORMER, theirs.state_dict())
    src, trg = torch.randn(B, S, D), torch.randn(B, T, D)
    expected = theirs(
        src,
        trg,
        tgt_mask=future(T),
        src_key_padding_mask=~source,
        tgt_key_padding_mask=~keep,
        memory_key_padding_mask=~source,
        tgt_is_causal=True,
    )
    actual = ours(src, trg, source, Mask.padding(keep) & Mask(causal=True))
    assert_equal(ours, theirs, TRANSFORMER, actual, expected, keep)
