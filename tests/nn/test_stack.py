import pytest
import torch
from torch import nn

from sublayer.errors import ShapeError
from sublayer.nn import (
    Alibi,
    Decoder,
    DecoderCache,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    Mask,
    MultiHeadAttention,
)


def encoder_layer():
    return EncoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 12))


class Recorder(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = []

    def forward(self, *args):
        self.calls.append(args)
        return args[0] + 1


@pytest.fixture
def x():
    return torch.randn(2, 3, 8)


def test_an_encoder_is_its_layers_and_its_norm(x, perturb):
    layers, norm = [encoder_layer() for _ in range(3)], LayerNorm(8)
    encoder = perturb(Encoder(iter(layers), norm)).eval()
    assert list(encoder.layers) == layers
    mask = Mask.lengths(torch.tensor([3, 2]))
    expected = norm(layers[2](layers[1](layers[0](x, mask), mask), mask))
    torch.testing.assert_close(encoder(x, mask), expected)


def test_a_layer_may_be_shared_on_purpose(x):
    layer = encoder_layer()
    encoder = Encoder([layer, layer]).eval()
    assert encoder.layers[0] is encoder.layers[1] is layer
    assert sum(p.numel() for p in encoder.parameters()) == sum(p.numel() for p in layer.parameters())
    torch.testing.assert_close(encoder(x), layer(layer(x)))


def test_layers_may_differ(x):
    encoder = Encoder([EncoderLayer(8, MultiHeadAttention(8, h), FeedForward(8, 4 * h)) for h in (1, 2, 4)])
    assert encoder(x).shape == x.shape


def test_an_encoder_gives_every_layer_the_mask_it_got(x):
    layers, mask = [Recorder(), Recorder()], Mask(causal=True)
    torch.testing.assert_close(Encoder(layers)(x, mask), x + 2)
    assert all(layer.calls[0][1] is mask for layer in layers)


def test_a_decoder_gives_every_layer_its_cache(x):
    layers, cache, memory = [Recorder(), Recorder()], DecoderCache(2), torch.randn(2, 5, 8)
    mask, memory_mask = Mask(causal=True), Mask.lengths(torch.tensor([5, 1]))
    Decoder(layers)(x, memory, mask, memory_mask, cache)
    for layer, own in zip(layers, cache.layers, strict=True):
        given = layer.calls[0]
        assert given[1] is memory and given[2] is mask and given[3] is memory_mask and given[4] is own
    Decoder(layers)(x)
    assert layers[0].calls[1][1:] == (None, None, None, None)


def test_a_bias_rides_in_the_mask(x):
    layer, alibi = Recorder(), Alibi(2)
    Encoder([layer], bias=alibi)(x, Mask(causal=True))
    mask = layer.calls[0][1]
    assert mask.causal and mask.bias.equal(alibi(3, 3, x.device))


def test_a_bias_covers_what_the_cache_holds(x):
    class Past:
        length = 4
        layers = [None]

    layer, alibi = Recorder(), Alibi(2)
    Decoder([layer], bias=alibi)(x, cache=Past())
    assert layer.calls[0][2].bias.equal(alibi(3, 7, x.device))


@pytest.mark.parametrize("mask", [torch.ones(2, 3), torch.ones(2, 1, 3, 3)])
def test_a_stack_refuses_a_float_mask_of_ones(x, mask):
    with pytest.raises(ValueError, match=r"holding only 0 and 1.*Write mask\.bool\(\)"):
        Encoder([encoder_layer()])(x, mask)
    layer = DecoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 12), cross_attn=MultiHeadAttention(8, 2))
    with pytest.raises(ValueError, match=r"holding only 0 and 1.*Write mask\.bool\(\)"):
        Decoder([layer])(x, x, None, mask)


def test_a_packed_memory_needs_the_documents_of_its_readers():
    layer = DecoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 12), cross_attn=MultiHeadAttention(8, 2))
    decoder, x, memory = Decoder([layer]).eval(), torch.randn(1, 3, 8), torch.randn(1, 3, 8)
    source, target = Mask.packed([2, 1]), Mask.packed([1, 2]) & Mask(causal=True)
    with pytest.raises(ShapeError, match=r"not of what reads it\. Write source_mask\.seen_from\(target_mask\)"):
        decoder(x, memory, target, source)
    parts = [decoder(x[:, :1], memory[:, :2]), decoder(x[:, 1:], memory[:, 2:], Mask(causal=True))]
    together = decoder(x, memory, target, source.seen_from(target))
    torch.testing.assert_close(together, torch.cat(parts, 1), atol=1e-5, rtol=0)
