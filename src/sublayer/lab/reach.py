"""Positions in and beyond the trained length; attention that sees less, or sees it in sums."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from sublayer.lab.claim import Bench, Measured, Point
from sublayer.lab.learning import learn, measure, needle, shift
from sublayer.lab.small import heads, reader
from sublayer.nn import Alibi, Fused, Learned, Linear, Local, RelativeBias, Rotary, Sinusoidal
from sublayer.nn.kernel import Kernel

WAYS: dict[str, Callable[[int, int], dict[str, Any]]] = {
    "none": lambda width, longest: {"positions": None},
    "sinusoidal": lambda width, longest: {"positions": Sinusoidal},
    "learned": lambda width, longest: {"positions": partial(Learned, longest)},
    "rotary": lambda width, longest: {"positions": None, "attn": heads(4, rotate=Rotary(width // 4))},
    "relative": lambda width, longest: {"positions": None, "bias": RelativeBias(4)},
    "ALiBi": lambda width, longest: {"positions": None, "bias": Alibi(4)},
}


def _reader(parts: Callable[[int, int], dict[str, Any]], width: int, longest: int) -> nn.Module:
    return reader(16, 16, width, **parts(width, longest))


def positions(seed: int, bench: Bench) -> Measured:
    width, steps, length = bench.choose((16, 4, 6), (32, 350, 8), (64, 1500, 24))
    within, beyond = [], []
    for name, parts in WAYS.items():
        make = partial(_reader, parts, width, 2 * length)
        found = learn(seed, make, shift(length, 2), steps=steps, rate=3e-3)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            _, right = measure(found.model, shift(2 * length, 2)(256, generator))
        within.append((name, found.accuracy))
        beyond.append((name, float(right)))
    inside, outside = dict(within), dict(beyond)
    numbers = {
        "gain": inside["sinusoidal"] - inside["none"],
        "none": inside["none"],
        "beyond": outside["sinusoidal"],
        "best beyond": max(outside[name] for name in ("rotary", "relative", "ALiBi")),
    }
    return Measured(numbers, {"trained length": [*within], "twice as long": [*beyond]})


KERNELS: dict[str, Callable[[], Kernel]] = {"full": Fused, "local": partial(Local, window=4), "linear": Linear}


def quality(seed: int, bench: Bench) -> Measured:
    width, steps, length = bench.choose((16, 4, 12), (32, 200, 32), (64, 600, 64))
    near: dict[str, float] = {}
    far: dict[str, float] = {}
    for name, kernel in KERNELS.items():
        for task, vocab, into in ((shift(length, 2, 8), 8, near), (needle(length, 8), 16, far)):
            make = partial(reader, vocab, 8, width, attn=heads(4, kernel=kernel()))
            into[name] = learn(seed, make, task, steps=steps, rate=3e-3).accuracy
    numbers = {
        "local near": near["full"] - near["local"],
        "linear far": far["full"] - far["linear"],
        "linear near": near["full"] - near["linear"],
        "local far": far["full"] - far["local"],
    }
    return Measured(numbers, {"two tokens away": [*near.items()], "anywhere in the first half": [*far.items()]})


@torch.no_grad()
def cost(seed: int, bench: Bench) -> Measured:
    lengths = bench.choose((128, 256), (512, 1024, 2048, 4096), (1024, 2048, 4096, 8192))
    curves: dict[str, list[Point]] = {}
    for name, kernel in (("full", Fused()), ("local, 64 on each side", Local(64)), ("linear", Linear())):
        curves[name] = []
        for length in lengths:
            q, k, v = torch.randn(3, 1, 2, length, 32)
            times = []
            for _ in range(3):
                start = time.process_time()
                kernel(q, k, v, None, scale=None, dropout=0.0)
                times.append(time.process_time() - start)
            curves[name].append((length, 1000 * min(times)))
    longer = math.log2(lengths[-1] / lengths[0])
    growth = {name: math.log2(points[-1][1] / points[0][1]) / longer for name, points in curves.items()}
    numbers = dict(zip(("full", "local", "linear"), growth.values(), strict=True))
    return Measured(numbers, curves)
