"""How weights start, and what dropout does to numbers."""

from collections.abc import Callable, Sequence
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.lab.claim import Bench, Measured, Point
from sublayer.nn import Encoder, EncoderLayer, FeedForward, LayerNorm, MultiHeadAttention, attention, init

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda x: x,
    "tanh": torch.tanh,
    "GELU": F.gelu,
    "ReLU": F.relu,
}


def clones(seed: int, bench: Bench) -> Measured:
    width, heads, tokens = bench.choose(16, 64, 512), 4, 32
    x = F.layer_norm(torch.randn(8, tokens, width), (width,))
    prototype = nn.Linear(width, width)
    ways = {
        "clones": [deepcopy(prototype) for _ in range(3)],
        "independent": [nn.Linear(width, width) for _ in range(3)],
    }
    looks, same = {}, {}
    for name, maps in ways.items():
        q, k, _ = (f(x).unflatten(-1, (heads, -1)).transpose(1, 2) for f in maps)
        looks[name] = float(attention(q, k, k)[1].diagonal(dim1=-2, dim2=-1).mean().detach())
        same[name] = float(((maps[0].weight - maps[1].weight).norm() / maps[0].weight.norm()).detach())
    shared = float(ways["clones"][0].weight.data_ptr() == ways["clones"][1].weight.data_ptr())
    numbers = {"shared": shared, "distance": same["clones"], "distance, independent": same["independent"]}
    numbers["itself"] = looks["clones"] - looks["independent"]
    return Measured(numbers, {"": [*looks.items(), ("even", 1 / tokens)]})


def xavier(seed: int, bench: Bench) -> Measured:
    width, depth = bench.choose(32, 256, 1024), 16
    curves: dict[str, list[Point]] = {}
    numbers = {}
    for name, act in ACTIVATIONS.items():
        layers = [nn.Linear(width, width) for _ in range(depth)]
        for layer in layers:
            init.xavier(layer)
        states = [torch.randn(64, width, requires_grad=True)]
        for layer in layers:
            states.append(act(layer(states[-1])))
        first, last = states[0], states[-1]
        given = torch.randn_like(last)
        back = torch.autograd.grad(last, states, given)
        curves[f"{name}, forward"] = _along(states, first)
        if name != "tanh":
            curves[f"{name}, backward"] = _along(back, given)
        numbers[f"{name} forward"] = float(last.detach().var() / first.detach().var())
        numbers[f"{name} backward"] = float(back[0].var() / given.var())
    return Measured(numbers, curves)


def _along(states: Sequence[Tensor], start: Tensor) -> list[Point]:
    return [(i, float(x.detach().var() / start.detach().var())) for i, x in enumerate(states)]


def dropout_at_inference(seed: int, bench: Bench) -> Measured:
    width = bench.choose(8, 32, 128)
    layer = EncoderLayer(width, MultiHeadAttention(width, 2, dropout=0.1), FeedForward(width))
    model, x = Encoder([layer], LayerNorm(width)), torch.randn(4, 8, width)
    moved = {}
    with torch.no_grad():
        for name in ("training", "inference"):
            model.train(name == "training")
            y = model(x)
            moved[name] = max(float((model(x) - y).norm() / y.norm()) for _ in range(8))
    return Measured(moved, {"": [*moved.items()]})


def dropout_energy(seed: int, bench: Bench) -> Measured:
    x = torch.rand(bench.choose(10**4, 10**6, 10**7)) + 0.5
    curves: dict[str, list[Point]] = {"sum": [], "energy": []}
    for p in (0.0, 0.1, 0.2, 0.3, 0.5):
        y = F.dropout(x, p)
        curves["sum"].append((p, float(y.sum() / x.sum())))
        curves["energy"].append((p, float(y.square().sum() / x.square().sum())))
    return Measured({name: dict(points)[0.1] for name, points in curves.items()}, curves)
