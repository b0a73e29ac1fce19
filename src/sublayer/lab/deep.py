"""Gradients through deep stacks, before anything is trained."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from sublayer.lab.claim import Bench, Measured, Point
from sublayer.lab.connections import DeepNorm, NoResidual, Sandwich, shrink_for_deepnorm
from sublayer.lab.small import POST_NORM, encoder, heads
from sublayer.nn import Encoder, LayerNorm, SublayerConnection, init

Stack = Callable[[int, int], Encoder]


def _stack(connect: Callable[..., nn.Module], norm: Callable[[int], nn.Module] | None) -> Stack:
    return lambda width, depth: encoder(width, depth, attn=heads(2), connect=connect, norm=norm)


def _deepnorm(width: int, depth: int) -> Encoder:
    return _stack(partial(DeepNorm, layers=depth), None)(width, depth)


STEPS: dict[str, Stack] = {
    "pre-norm": _stack(SublayerConnection, LayerNorm),
    "post-norm": _stack(POST_NORM, None),
    "DeepNorm": _deepnorm,
    "sandwich": _stack(Sandwich, LayerNorm),
}


def _start(name: str, seed: int, width: int, depth: int) -> Encoder:
    torch.manual_seed(seed)
    made = STEPS[name](width, depth)
    init.xavier(made)
    if name == "DeepNorm":
        shrink_for_deepnorm(made, depth)
    return made


def _loss(states: Tensor, seed: int) -> Tensor:
    """Cross-entropy against random classes, read by a random map: what a fresh model stands before."""
    generator = torch.Generator().manual_seed(seed)
    project = torch.randn(states.size(-1), 32, generator=generator) / states.size(-1) ** 0.5
    classes = torch.randint(32, states.shape[:-1], generator=generator)
    return nn.functional.cross_entropy((states @ project).flatten(0, 1), classes.flatten())


def _by_layer(name: str, seed: int, width: int, depth: int) -> list[Point]:
    """The gradient's norm at the feed-forward network of each layer."""
    stack = _start(name, seed, width, depth)
    _loss(stack(torch.randn(4, 16, width)), seed).backward()
    weights = dict(stack.named_parameters())
    gradients = [weights[f"layers.{i}.ffn.down.weight"].grad for i in range(depth)]
    return [(i, float(gradient.norm())) for i, gradient in enumerate(gradients, 1) if gradient is not None]


def gradient_by_layer(seed: int, bench: Bench) -> Measured:
    width, shallow, deep = bench.choose((16, 2, 4), (64, 6, 24), (256, 6, 48))
    curves = {name: _by_layer(name, seed, width, deep) for name in STEPS}
    at_the_end = {name: points[-1][1] for name, points in curves.items()}
    before = {name: _by_layer(name, seed, width, shallow)[-1][1] for name in ("post-norm", "pre-norm")}
    slope = {name: math.log10(points[0][1] / points[-1][1]) for name, points in curves.items()}
    excess = math.log10(at_the_end["post-norm"] / at_the_end["pre-norm"])
    numbers = {
        "excess": excess,
        "growth": excess - math.log10(before["post-norm"] / before["pre-norm"]),
        "pre": slope["pre-norm"],
        "post": slope["post-norm"],
    }
    return Measured(numbers, curves)


def residuals_carry_gradient(seed: int, bench: Bench) -> Measured:
    width = bench.choose(16, 64, 256)
    depths = bench.choose((2, 4), (2, 4, 8, 16, 32), (2, 4, 8, 16, 32, 64))
    curves: dict[str, list[Point]] = {}
    apart: dict[str, float] = {}
    for name, connect in (("with residuals", SublayerConnection), ("without", NoResidual)):
        curves[name] = []
        for depth in depths:
            torch.manual_seed(seed)
            stack = _stack(connect, LayerNorm)(width, depth)
            init.xavier(stack)
            x = torch.randn(4, 16, width, requires_grad=True)
            states = stack(x)
            (gradient,) = torch.autograd.grad(_loss(states, seed), x)
            curves[name].append((depth, float(gradient.norm())))
            units = nn.functional.normalize(states.detach(), dim=-1)
            apart[name] = 1 - float((units @ units.mT).mean())
    (first, last), (_, lost) = ([points[end][1] for end in (0, -1)] for points in curves.values())
    numbers = {
        "advantage": math.log10(last / lost),
        "with": math.log10(last / first),
        "apart with": apart["with residuals"],
        "apart without": apart["without"],
    }
    return Measured(numbers, curves)
