"""Padding changes nothing that is kept, whatever stands in it."""

import math

import pytest
import torch

from sublayer.nn import DecoderLayer, Eager, Encoder, EncoderLayer, FeedForward, Fused, Local, Mask, MultiHeadAttention

JUNK = [1e4, -1e4, torch.inf, torch.nan]
junk = pytest.mark.parametrize("value", JUNK)
kernels = pytest.mark.parametrize("kernel", [Eager(), Fused(), Local(5)], ids=["eager", "fused", "local"])
trained = pytest.mark.parametrize("train", [True, False], ids=["train", "eval"])


def attend(kernel=None, groups=2):
    return MultiHeadAttention(16, 4, num_kv_heads=groups, dropout=0.0, kernel=kernel)


def encoder_layer(kernel=None):
    return EncoderLayer(16, attend(kernel), FeedForward(16, 24, 0.0), 0.0)


def check(f, x, keep, value, causal=False):
    """f(x, mask) at what is kept, with zeros and with junk at what is not; with finite junk the gradients too."""
    mask = Mask.padding(keep) & Mask(causal=causal)
    clean = x.masked_fill(~keep[..., None], 0.0).requires_grad_()
    dirty = x.masked_fill(~keep[..., None], value).requires_grad_()
    one, other = f(clean, mask), f(dirty, mask)
    torch.testing.assert_close(other[keep], one[keep], atol=1e-6, rtol=0)
    if not math.isfinite(value):
        return
    one[keep].square().sum().backward()
    other[keep].square().sum().backward()
    torch.testing.assert_close(dirty.grad[keep], clean.grad[keep], atol=1e-5, rtol=1e-5)


@junk
@kernels
@trained
@pytest.mark.parametrize("left", [False, True])
def test_attention(value, kernel, train, left, ragged, perturb):
    module = perturb(attend(kernel)).train(train)
    check(lambda x, mask: module(x, x, x, mask), torch.randn(3, 5, 16), ragged([5, 2, 0], left=left), value)


@junk
@kernels
@trained
def test_encoder_layer(value, kernel, train, ragged, perturb):
    module = perturb(encoder_layer(kernel)).train(train)
    for causal in (False, True):
        check(module, torch.randn(3, 5, 16), ragged([5, 2, 1]), value, causal)


@junk
@trained
def test_encoder(value, train, ragged, perturb):
    module = perturb(Encoder(encoder_layer() for _ in range(3))).train(train)
    check(module, torch.randn(3, 5, 16), ragged([5, 2, 1]), value)


@junk
@kernels
@trained
def test_the_memory_of_a_decoder_layer(value, kernel, train, ragged, perturb):
    layer = DecoderLayer(16, attend(), FeedForward(16, 24, 0.0), 0.0, cross_attn=attend(kernel))
    perturb(layer).train(train)
    x, memory, keep = torch.randn(3, 4, 16), torch.randn(3, 5, 16), ragged([5, 2, 0])
    outputs = [
        layer(x, memory.masked_fill(~keep[..., None], junk), Mask(causal=True), Mask.padding(keep))
        for junk in (0.0, value)
    ]
    torch.testing.assert_close(*outputs, atol=1e-6, rtol=0)


@junk
@pytest.mark.parametrize("pairs", [False, True])
def test_a_key_that_no_query_may_see(value, pairs, perturb):
    """A mask of pairs can hide a key from everyone as well."""
    module, x = perturb(attend()), torch.randn(1, 4, 16)
    keep = torch.tensor([[[1, 0, 1, 1], [1, 0, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]]])
    mask = Mask.of(keep if pairs else keep[:, 0])
    outputs = []
    for junk in (0.0, value):
        key = x.clone()
        key[:, 1] = junk
        outputs.append(module(x, key, key, mask))
    torch.testing.assert_close(*outputs, atol=1e-6, rtol=0)


@pytest.mark.parametrize("value", [1e4, torch.nan])
@pytest.mark.parametrize("norm_first", [True, False])
@trained
def test_encoder_model(value, norm_first, train, tiny, position, ragged):
    model = tiny("encoder", position=position, norm_first=norm_first, dropout=0.0).train(train)
    keep = ragged([6, 3, 1])
    ids = torch.randint(1, 13, (3, 6)).masked_fill(~keep, 0)
    expected = model(ids, keep)
    with torch.no_grad():
        model.embed.tokens.weight[0] = value
    torch.testing.assert_close(model(ids, keep)[keep], expected[keep], atol=1e-6, rtol=0)


@pytest.mark.parametrize("value", [1e4, torch.nan])
@trained
def test_encoder_decoder(value, train, tiny, position, ragged):
    model = tiny(position=position, tie="none", dropout=0.0).train(train)
    source, target = ragged([6, 3, 1]), ragged([2, 5, 4])
    src = torch.randint(1, 13, (3, 6)).masked_fill(~source, 0)
    trg = torch.randint(1, 11, (3, 5)).masked_fill(~target, 0)
    expected = model(src, trg, source, target)
    with torch.no_grad():
        model.source_embed.tokens.weight[0] = value
        model.target_embed.tokens.weight[0] = value
    torch.testing.assert_close(model(src, trg, source, target)[target], expected[target], atol=1e-6, rtol=0)


@pytest.mark.parametrize("value", [1e4, torch.nan])
@pytest.mark.parametrize("left", [True, False])
def test_language_model(value, left, tiny, position, ragged):
    model, keep = tiny("decoder", position=position, tie="none"), ragged([6, 3, 1], left=left)
    ids = torch.randint(1, 11, (3, 6)).masked_fill(~keep, 0)
    expected = model(ids, keep)
    with torch.no_grad():
        model.embed.tokens.weight[0] = value
    torch.testing.assert_close(model(ids, keep)[keep], expected[keep], atol=1e-6, rtol=0)
