"""What makes training go: norms, their place, warm-up, residuals, depth."""

import time
from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from sublayer.lab.claim import Bench, Measured, Point
from sublayer.lab.connections import NoResidual
from sublayer.lab.learning import learn, reverse
from sublayer.lab.pronounce import learn_words
from sublayer.lab.small import POST_NORM, reader
from sublayer.nn import LayerNorm, RMSNorm, SublayerConnection


def warmup(seed: int, bench: Bench) -> Measured:
    depths = bench.choose((2,), (6,), (24,))
    waits = bench.choose((0, 2), (0, 60), (0, 1000))
    steps, length, width = bench.choose((4, 4, 16), (300, 5, 32), (1100, 5, 32))
    curves: dict[str, list[Point]] = {}
    for place, connect, norm in (("pre-norm", SublayerConnection, LayerNorm), ("post-norm", POST_NORM, None)):
        for wait in waits:
            make = [partial(reader, 8, 8, width, depth, connect=connect, norm=norm) for depth in depths]
            found = [learn(seed, m, reverse(length, 8), steps=steps, rate=3e-3, warmup=wait) for m in make]
            name = f"{place}, warm-up {wait}"
            curves[name] = [(f"{depth} layers", one.accuracy) for depth, one in zip(depths, found, strict=True)]
    deepest = {name: points[-1][1] for name, points in curves.items()}
    bare: dict[str, float] = {}
    gained: dict[str, float] = {}
    for place in ("pre", "post"):
        bare[place], *warmed = (value for name, value in deepest.items() if name.startswith(place))
        gained[place] = max(warmed) - bare[place]
    numbers = {"post": gained["post"], "pre": gained["pre"], "difference": bare["pre"] - bare["post"]}
    return Measured(numbers, curves)


def residuals(seed: int, bench: Bench) -> Measured:
    depths = bench.choose((1, 2), (2, 6), (2, 4, 8, 16))
    steps, length, width = bench.choose((4, 4, 16), (300, 5, 32), (600, 8, 32))
    ways: dict[str, Callable[..., nn.Module]] = {"with residuals": SublayerConnection, "without": NoResidual}
    curves: dict[str, list[Point]] = {}
    for name, connect in ways.items():
        make = [partial(reader, 8, 8, width, depth, connect=connect) for depth in depths]
        found = [learn(seed, m, reverse(length, 8), steps=steps, rate=3e-3) for m in make]
        curves[name] = [(depth, one.accuracy) for depth, one in zip(depths, found, strict=True)]
    last = {name: points[-1][1] for name, points in curves.items()}
    numbers = {"with": last["with residuals"], "difference": last["with residuals"] - last["without"]}
    return Measured(numbers, curves)


def own_norm(seed: int, bench: Bench) -> Measured:
    def shared() -> Callable[[int], nn.Module]:
        norms: list[nn.Module] = []

        def norm(d_model: int) -> nn.Module:
            """Every second call gives the norm of the first again: a layer has two."""
            norms.append(LayerNorm(d_model) if len(norms) % 2 == 0 else norms[-1])
            return norms[-1]

        return norm

    own = learn_words(seed, bench).loss
    one = learn_words(seed, bench, connect=partial(SublayerConnection, norm=shared())).loss
    return Measured({"cost": one - own}, {"": [("each its own", own), ("shared in a layer", one)]})


def _seconds(norm: nn.Module, x: torch.Tensor, repeats: int) -> float:
    """The fastest of several passes, forward and backward."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        norm(x).sum().backward()
        best = min(best, time.process_time() - start)
    return best


def rmsnorm(seed: int, bench: Bench) -> Measured:
    losses = {
        name: learn_words(seed, bench, connect=partial(SublayerConnection, norm=norm), norm=norm).loss
        for name, norm in (("LayerNorm", LayerNorm), ("RMSNorm", RMSNorm))
    }
    width, repeats = bench.choose((16, 2), (512, 40), (512, 200))
    x = torch.randn(2048 if width > 16 else 8, width, requires_grad=True)
    time_of = {name: _seconds(norm(width), x, repeats) for name, norm in (("layer", LayerNorm), ("rms", RMSNorm))}
    numbers = {"difference": losses["RMSNorm"] - losses["LayerNorm"], "time": time_of["rms"] / time_of["layer"]}
    return Measured(numbers, {"": [*losses.items()]})


def depth(seed: int, bench: Bench) -> Measured:
    """Equal compute: as much as the one before the deepest has had."""
    depths, pace = bench.choose(((1, 2), 0.75), ((1, 2, 4), 0.75), ((2, 6, 12), 0.5))
    tokens = [(d, learn_words(seed, bench, layers=d, pace=pace).loss) for d in depths]
    compute = [(d, learn_words(seed, bench, layers=d, pace=pace * depths[-2] / d).loss) for d in depths]
    equal, spent = dict(tokens), dict(compute)
    numbers = {
        "tokens": equal[depths[0]] - equal[depths[-1]],
        "last step": equal[depths[-2]] - equal[depths[-1]],
        "compute": spent[depths[0]] - spent[depths[-1]],
    }
    return Measured(numbers, {"equal tokens": [*tokens], "equal compute": [*compute]})
