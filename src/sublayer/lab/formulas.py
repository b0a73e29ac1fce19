"""What the formulas themselves decide."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from sublayer.inspect import flops, parameters
from sublayer.lab.claim import Bench, Measured
from sublayer.lab.small import perturb
from sublayer.nn import FeedForward, LayerNorm, MultiHeadAttention, SublayerConnection, attention


def _bent(f: Callable[[Tensor], Tensor], x: Tensor, y: Tensor) -> float:
    """How far f(x + y) - f(0) is from (f(x) - f(0)) + (f(y) - f(0)), relative: 0 for an affine f."""
    zero = f(torch.zeros_like(x))
    together, apart = f(x + y) - zero, f(x) + f(y) - 2 * zero
    return float((together - apart).norm() / together.norm())


@torch.no_grad()
def attention_is_linear(seed: int, bench: Bench) -> Measured:
    width, tokens = bench.choose(8, 64, 256), 12
    x, y = torch.randn(2, 4, tokens, width)
    q, k = torch.randn(2, 4, tokens, width)
    attn = perturb(MultiHeadAttention(width, 4).eval())
    bent = {
        "values, weights held": _bent(lambda v: attention(q, k, v)[0], x, y),
        "x: self-attention": _bent(lambda v: attn(v, v, v), x, y),
        "x: feed-forward": _bent(perturb(FeedForward(width).eval()), x, y),
        "x: linear map": _bent(perturb(nn.Linear(width, width)), x, y),
    }
    return Measured(bent, {"": [*bent.items()]})


def heads_cost_the_same(seed: int, bench: Bench) -> Measured:
    width, tokens = bench.choose(64, 512, 512), bench.choose(8, 32, 128)
    heads = (1, 2, 4, 8, 16)
    x = torch.randn(2, tokens, width)
    operations, weights, scores = [], [], []
    for count in heads:
        attn = MultiHeadAttention(width, count).eval()
        operations.append((count, float(flops(attn, x, x, x))))
        weights.append((count, float(parameters(attn).total)))
        scores.append((count, float(2 * count * tokens**2)))
    numbers = {
        "operations": operations[-1][1] / operations[0][1],
        "parameters": weights[-1][1] / weights[0][1],
        "scores": scores[-1][1] / scores[0][1],
    }
    curves = {"operations": operations, "parameters": weights, "numbers that softmax sees": scores}
    return Measured(numbers, {name: [(h, y / points[0][1]) for h, y in points] for name, points in curves.items()})


@torch.no_grad()
def post_norm_as_drawn(seed: int, bench: Bench) -> Measured:
    width = bench.choose(8, 64, 512)
    x, f = 3 * torch.randn(4, 16, width), FeedForward(width).eval()
    norm = perturb(LayerNorm(width))
    step = SublayerConnection(width, 0.0, norm=lambda _: norm, norm_first=False).eval()
    written, drawn = step(x, f), x + norm(f(x))
    before = SublayerConnection(width, 0.0, norm=lambda _: norm).eval()(x, f)
    distance = {
        "Norm(x + f(x)), tutorial C": float((norm(x + f(x)) - written).norm() / written.norm()),
        "x + Norm(f(x)), as drawn in A": float((drawn - written).norm() / written.norm()),
        "x + f(Norm(x)), pre-norm": float((before - written).norm() / written.norm()),
    }
    numbers = dict(zip(("C", "drawn", "pre"), distance.values(), strict=True))
    return Measured(numbers, {"": [*distance.items()]})
