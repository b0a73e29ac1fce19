"""Time and batch are mixed up, and a row attends to its neighbours."""

import torch

from sublayer.nn import DecoderCache, DecoderLayer, Encoder, EncoderLayer, FeedForward, Mask, MultiHeadAttention


def noisy(x):
    return torch.cat((x[:1], 100 * torch.randn_like(x[1:])))


def test_encoder_and_decoder_layers(perturb):
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 5, 16)
    encoder = perturb(Encoder([EncoderLayer(16, MultiHeadAttention(16, 4), FeedForward(16))])).eval()
    torch.testing.assert_close(encoder(noisy(x))[0], encoder(x)[0], atol=1e-6, rtol=0)
    layer = DecoderLayer(16, MultiHeadAttention(16, 4), FeedForward(16), cross_attn=MultiHeadAttention(16, 4))
    decoder, mask = perturb(layer).eval(), Mask(causal=True)
    expected = decoder(x, memory, mask)[0]
    torch.testing.assert_close(decoder(noisy(x), noisy(memory), mask)[0], expected, atol=1e-6, rtol=0)


def test_models_and_decoding_steps(tiny):
    model, src, trg = tiny(), torch.randint(13, (2, 5)), torch.randint(11, (2, 5))
    other_src, other_trg = src.clone(), trg.clone()
    other_src[1], other_trg[1] = (src[1] + 1) % 13, (trg[1] + 1) % 11
    torch.testing.assert_close(model(other_src, other_trg)[0], model(src, trg)[0], atol=1e-6, rtol=0)
    outputs = []
    for s, t in ((src, trg), (other_src, other_trg)):
        cache, memory = DecoderCache(2), model.encode(s)
        outputs.append(torch.cat([model.decode(t[:, i : i + 1], memory, cache=cache) for i in range(5)], 1)[0])
    torch.testing.assert_close(*outputs, atol=1e-6, rtol=0)
