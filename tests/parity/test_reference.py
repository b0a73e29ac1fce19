"""Against plain float64 arithmetic: one row, one head and one query at a time, nothing but what may be seen."""

import math

import pytest
import torch

from sublayer.nn import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Mask,
    MultiHeadAttention,
    SublayerConnection,
)

D, T, S = 12, 5, 6


def matrix(weights, name, x):
    return x @ weights[f"{name}.weight"].double().T + weights[f"{name}.bias"].double()


def norm(weights, name, x):
    centred = x - x.mean(-1, keepdim=True)
    x = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return x * weights[f"{name}.weight"].double() + weights[f"{name}.bias"].double()


def attend(weights, name, heads, groups, query, key, sees):
    """query (T, D), key (S, D), sees(t) the keys that query t may see."""
    q, k, v = (matrix(weights, f"{name}{p}_proj", x) for p, x in (("q", query), ("k", key), ("v", key)))
    rows = []
    for t in range(len(query)):
        context = []
        for h in range(heads):
            g = h * groups // heads
            qh = q[t].view(heads, -1)[h]
            seen = sees(t)
            scores = [float(qh @ k[s].view(groups, -1)[g]) / math.sqrt(len(qh)) for s in seen]
            total = sum(math.exp(score) for score in scores)
            values = [v[s].view(groups, -1)[g] for s in seen]
            zero = torch.zeros(v.size(1) // groups, dtype=torch.float64)
            context.append(sum((math.exp(a) / total * b for a, b in zip(scores, values, strict=True)), zero))
        rows.append(torch.cat(context))
    return matrix(weights, f"{name}out_proj", torch.stack(rows))


def residual(weights, name, norm_first, x, f):
    if norm_first:
        return x + f(norm(weights, f"{name}.norm", x))
    return norm(weights, f"{name}.norm", x + f(x))


def ffn(weights, x):
    return matrix(weights, "ffn.down", matrix(weights, "ffn.up", x).clamp(min=0))


def connect(norm_first):
    def connect(d_model, dropout):
        return SublayerConnection(d_model, dropout, norm_first=norm_first)

    return connect


@pytest.mark.parametrize("groups", [4, 2, 1])
@pytest.mark.parametrize("widths", [(3, 3), (5, 2)])
def test_attention(groups, widths, perturb, ragged):
    d_k, d_v = widths
    ours = perturb(MultiHeadAttention(D, 4, num_kv_heads=groups, d_k=d_k, d_v=d_v)).eval()
    weights = ours.state_dict()
    query, key = torch.randn(3, T, D), torch.randn(3, S, D)
    lengths = [S, 3, 0]
    output = ours(query, key, key, Mask.padding(ragged(lengths)))
    for b, length in enumerate(lengths):
        row = query[b].double(), key[b].double()
        expected = attend(weights, "", 4, groups, *row, lambda t, n=length: range(n))
        torch.testing.assert_close(output[b].double(), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
def test_encoder_layer(norm_first, perturb, ragged):
    layer = EncoderLayer(D, MultiHeadAttention(D, 4), FeedForward(D, 20), connect=connect(norm_first))
    weights = perturb(layer).eval().state_dict()
    x, lengths = torch.randn(2, T, D), [T, 3]
    output = layer(x, ragged(lengths))
    for b, length in enumerate(lengths):

        def look(y, n=length):
            return attend(weights, "self_attn.", 4, 4, y, y, lambda t: range(n))

        mid = residual(weights, "sublayer_attn", norm_first, x[b].double(), look)
        expected = residual(weights, "sublayer_ffn", norm_first, mid, lambda y: ffn(weights, y))
        torch.testing.assert_close(output[b].double(), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
def test_decoder_layer(norm_first, perturb, ragged):
    layer = DecoderLayer(
        D,
        MultiHeadAttention(D, 4),
        FeedForward(D, 20),
        cross_attn=MultiHeadAttention(D, 2),
        connect=connect(norm_first),
    )
    weights = perturb(layer).eval().state_dict()
    x, memory, lengths = torch.randn(2, T, D), torch.randn(2, S, D), [S, 2]
    output = layer(x, memory, Mask(causal=True), ragged(lengths))
    for b, length in enumerate(lengths):

        def look(y):
            return attend(weights, "self_attn.", 4, 4, y, y, lambda t: range(t + 1))

        def read(y, b=b, n=length):
            return attend(weights, "cross_attn.", 2, 2, y, memory[b].double(), lambda t: range(n))

        mid = residual(weights, "sublayer_attn", norm_first, x[b].double(), look)
        mid = residual(weights, "sublayer_cross", norm_first, mid, read)
        expected = residual(weights, "sublayer_ffn", norm_first, mid, lambda y: ffn(weights, y))
        torch.testing.assert_close(output[b].double(), expected, atol=1e-5, rtol=1e-5)
