import pytest
import torch
from torch import nn

from sublayer.nn import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerCache,
    Mask,
    MultiHeadAttention,
    SublayerConnection,
)


class Recorder(nn.Module):
    """A part that remembers how it was called."""

    def __init__(self, answer=lambda x: x):
        super().__init__()
        self.calls, self.answer = [], answer

    def forward(self, *args, **kwargs):
        self.calls.append((args, kwargs))
        return self.answer(args[0])


class Step(nn.Module):
    """A residual step without norm or dropout that remembers its making and its calls."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.made, self.calls = (d_model, dropout), []

    def forward(self, x, sublayer):
        self.calls.append(x)
        return x + sublayer(x + 100)


@pytest.fixture
def x():
    return torch.randn(2, 3, 8)


@pytest.mark.parametrize("norm_first", [True, False])
def test_an_encoder_layer_is_its_two_steps(x, norm_first, perturb):
    def connect(d_model, dropout):
        return SublayerConnection(d_model, dropout, norm_first=norm_first)

    layer = perturb(EncoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 12), 0.1, connect=connect)).eval()
    one, two = layer.sublayer_attn.norm, layer.sublayer_ffn.norm
    if norm_first:
        mid = x + layer.self_attn(one(x), one(x), one(x))
        expected = mid + layer.ffn(two(mid))
    else:
        mid = one(x + layer.self_attn(x, x, x))
        expected = two(mid + layer.ffn(mid))
    torch.testing.assert_close(layer(x), expected)


@pytest.mark.parametrize("mask", [None, Mask(causal=True), torch.ones(2, 3, dtype=torch.bool)])
def test_an_encoder_layer_calls_its_parts_as_promised(x, mask):
    attend, ffn = Recorder(), Recorder()
    layer = EncoderLayer(8, attend, ffn, 0.3, connect=Step)
    layer(x, mask)
    ((query, key, value), kwargs) = attend.calls[0]
    assert query is key is value and query.equal(x + 100)
    assert kwargs.keys() == {"mask"} and kwargs["mask"] is mask
    (fed,), kwargs = ffn.calls[0]
    assert kwargs == {} and fed.equal(x + (x + 100) + 100)
    assert layer.sublayer_attn.made == layer.sublayer_ffn.made == (8, 0.3)
    assert len(attend.calls) == len(ffn.calls) == 1


def test_a_decoder_layer_calls_its_parts_as_promised(x):
    attend, read, ffn = Recorder(), Recorder(), Recorder()
    layer = DecoderLayer(8, attend, ffn, 0.3, cross_attn=read, connect=Step)
    memory, mask, memory_mask = torch.randn(2, 5, 8), Mask(causal=True), Mask.lengths(torch.tensor([5, 1]))
    layer(x, memory, mask, memory_mask)
    (query, key, value), kwargs = attend.calls[0]
    assert query is key is value
    assert kwargs.keys() == {"mask"} and kwargs["mask"] is mask
    (query, key, value), kwargs = read.calls[0]
    assert key is value is memory and query.equal(layer.sublayer_cross.calls[0] + 100)
    assert kwargs.keys() == {"mask"} and kwargs["mask"] is memory_mask
    assert len(ffn.calls) == 1
    assert layer.sublayer_attn.made == layer.sublayer_cross.made == layer.sublayer_ffn.made == (8, 0.3)


def test_a_cache_reaches_each_attention_its_own(x):
    attend, read = Recorder(), Recorder()
    layer = DecoderLayer(8, attend, Recorder(), cross_attn=read)
    cache = LayerCache(object(), object())
    layer(x, torch.randn(2, 5, 8), cache=cache)
    assert attend.calls[0][1]["cache"] is cache.self_attn
    assert read.calls[0][1]["cache"] is cache.cross_attn


def test_without_cross_attention_there_is_no_step_for_it(x):
    layer = DecoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 12))
    assert layer.sublayer_cross is None
    assert not [name for name, _ in layer.named_parameters() if "cross" in name]
    assert layer(x).shape == x.shape


def test_a_decoder_layer_without_memory_is_an_encoder_layer(x, perturb):
    encoder = perturb(EncoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 12))).eval()
    decoder = DecoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 12)).eval()
    decoder.load_state_dict(encoder.state_dict())
    mask = Mask(causal=True)
    torch.testing.assert_close(decoder(x, mask=mask), encoder(x, mask))
