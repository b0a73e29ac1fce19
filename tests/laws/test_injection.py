"""One's own parts fit wherever ours do."""

import pytest
import torch
from torch import nn

from sublayer.interop.rule import load
from sublayer.interop.torch_nn import MULTIHEAD_ATTENTION
from sublayer.nn import (
    Decoder,
    DecoderCache,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    Mask,
    MultiHeadAttention,
    SublayerConnection,
)


class TorchAttention(nn.Module):
    """nn.MultiheadAttention where a layer expects self_attn(query, key, value, mask=mask)."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.inner = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, query, key, value, mask=None):
        visible = None if mask is None else mask.visible(query.size(1), key.size(1))
        if visible is not None:
            heads = self.inner.num_heads
            visible = ~visible.expand(query.size(0), heads, query.size(1), key.size(1)).flatten(0, 1)
        return self.inner(query, key, value, attn_mask=visible, need_weights=False)[0]


class KeptWeights(nn.Module):
    """An attention that keeps its weights, for those who want them on the module."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.attn = inner, None
        inner.kernel = self.kernel

    def kernel(self, q, k, v, mask, *, scale, dropout):
        from sublayer.nn import attention

        output, self.attn = attention(q, k, v, mask, scale=scale)
        return output

    def forward(self, query, key, value, mask=None):
        return self.inner(query, key, value, mask)


class ScaleNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(float(d_model)).sqrt())

    def forward(self, x):
        return self.gain * x / x.norm(dim=-1, keepdim=True)


class ReZero(nn.Module):
    """x + a · f(x) with a = 0 at the start. Bachlechner et al. 2020."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.a, self.dropout = nn.Parameter(torch.zeros(())), nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.a * self.dropout(sublayer(x))


@pytest.fixture
def x():
    return torch.randn(2, 5, 16)


def test_attention_of_torch_behind_a_short_adapter(x, ragged, perturb):
    theirs = [perturb(TorchAttention(16, 4), seed) for seed in (1, 2)]
    ours = [MultiHeadAttention(16, 4) for _ in theirs]
    for one, other in zip(ours, theirs, strict=True):
        load(one, MULTIHEAD_ATTENTION, other.inner.state_dict())
    ffns = [FeedForward(16, 24) for _ in ours]
    stacks = [
        Encoder(EncoderLayer(16, attend, ffn) for attend, ffn in zip(kind, ffns, strict=True)).eval()
        for kind in (ours, theirs)
    ]
    keep = ragged([5, 3])
    for mask in (None, Mask.padding(keep), Mask.padding(keep) & Mask(causal=True), keep):
        torch.testing.assert_close(stacks[0](x, mask)[keep], stacks[1](x, mask)[keep], atol=1e-5, rtol=1e-5)


def test_attention_of_torch_in_a_decoder_without_a_cache(x):
    layer = DecoderLayer(16, TorchAttention(16, 4), FeedForward(16), cross_attn=TorchAttention(16, 2))
    memory = torch.randn(2, 3, 16)
    assert Decoder([layer])(x, memory, Mask(causal=True), torch.ones(2, 3, dtype=torch.bool)).shape == x.shape


def test_an_attention_that_keeps_its_weights(x, ragged):
    attend = KeptWeights(MultiHeadAttention(16, 4))
    plain = MultiHeadAttention(16, 4)
    plain.load_state_dict(attend.inner.state_dict())
    mask = Mask.padding(ragged([5, 2]))
    torch.testing.assert_close(attend.eval()(x, x, x, mask), plain.eval()(x, x, x, mask), atol=1e-6, rtol=0)
    assert attend.attn.shape == (2, 4, 5, 5)
    torch.testing.assert_close(attend.attn.sum(-1), torch.ones(2, 4, 5))


def test_a_feed_forward_network_of_ones_own(x):
    ffn = nn.Sequential(nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 16))
    layer = EncoderLayer(16, MultiHeadAttention(16, 4), ffn, 0.0).eval()
    mid = layer.sublayer_attn(x, lambda y: layer.self_attn(y, y, y))
    torch.testing.assert_close(layer(x), mid + ffn(layer.sublayer_ffn.norm(mid)))


def test_a_norm_of_ones_own(x):
    def connect(d_model, dropout):
        return SublayerConnection(d_model, dropout, norm=ScaleNorm)

    layer = EncoderLayer(16, MultiHeadAttention(16, 4), FeedForward(16), connect=connect)
    assert isinstance(layer.sublayer_ffn.norm, ScaleNorm)
    layer(x).sum().backward()
    assert layer.sublayer_attn.norm.gain.grad is not None


def test_a_residual_step_of_ones_own_keeps_caching(x):
    def layer():
        return DecoderLayer(16, MultiHeadAttention(16, 4), FeedForward(16), connect=ReZero)

    decoder = Decoder(layer() for _ in range(2)).eval()
    assert decoder(x, mask=Mask(causal=True)).equal(x)
    for one in decoder.layers:
        nn.init.constant_(one.sublayer_attn.a, 0.7)
        nn.init.constant_(one.sublayer_ffn.a, 0.4)
    cache = DecoderCache(2)
    steps = [decoder(x[:, t : t + 1], mask=Mask(causal=True), cache=cache) for t in range(5)]
    torch.testing.assert_close(torch.cat(steps, 1), decoder(x, mask=Mask(causal=True)), atol=1e-5, rtol=0)
