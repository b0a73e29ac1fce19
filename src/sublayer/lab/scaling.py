"""Sizes of numbers: scores, positions, embeddings."""

import math

import torch
from torch import Tensor

from sublayer.lab.claim import Bench, Measured, Point
from sublayer.nn import Embeddings, Sinusoidal, init

WIDTHS = (4, 16, 64, 256, 1024, 4096)


def _entropy(weights: Tensor) -> float:
    """As a share of the greatest, log S; mean over rows."""
    return float(torch.special.entr(weights).sum(-1).mean() / math.log(weights.size(-1)))


def _gradient(weights: Tensor) -> float:
    """Norm of softmax's Jacobian diag(p) - p pᵀ; mean over rows."""
    jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return float(jacobian.flatten(-2).norm(dim=-1).mean())


def root_of_width(seed: int, bench: Bench) -> Measured:
    rows, keys = bench.choose(4, 64, 256), 64
    entropy: dict[str, list[float]] = {"divided by √d_k": [], "not divided": [], "divided, keys = queries": []}
    gradient: dict[str, list[float]] = {name: [] for name in entropy}
    for width in WIDTHS:
        q, k = torch.randn(rows, width), torch.randn(keys, width)
        same = torch.randn(keys, width)
        scores = {
            "divided by √d_k": q @ k.T / math.sqrt(width),
            "not divided": q @ k.T,
            "divided, keys = queries": same @ same.T / math.sqrt(width),
        }
        for name, score in scores.items():
            weights = score.softmax(-1)
            entropy[name].append(_entropy(weights))
            gradient[name].append(_gradient(weights))
    curves: dict[str, list[Point]] = {}
    for what, found in (("entropy", entropy), ("gradient", gradient)):
        for name, values in found.items():
            curves[f"{what}, {name}"] = [(w, value / values[0]) for w, value in zip(WIDTHS, values, strict=True)]
    last = {name: points[-1][1] for name, points in curves.items()}
    del curves["gradient, divided, keys = queries"]
    numbers = {
        "kept": last["entropy, divided by √d_k"],
        "lost": last["entropy, not divided"],
        "gradient kept": last["gradient, divided by √d_k"],
        "gradient lost": last["gradient, not divided"],
        "alike": last["entropy, divided, keys = queries"],
    }
    return Measured(numbers, curves)


def wavelengths(seed: int, bench: Bench) -> Measured:
    """Read off the table itself: how far a cosine moves between two positions is its frequency."""
    curves = {}
    for width in (16, 64, 512):
        step = Sinusoidal(width)(torch.tensor([1]), 2)[0].double()
        lengths = 2 * math.pi / torch.atan2(step[0::2], step[1::2])
        curves[f"d = {width}"] = [(2 * i / width, float(length)) for i, length in enumerate(lengths)]
    longest = {name: points[-1][1] / (10000 * 2 * math.pi) for name, points in curves.items()}
    numbers = {
        "shortest": curves["d = 512"][0][1] / (2 * math.pi),
        "longest at 512": longest["d = 512"],
        "longest at 16": longest["d = 16"],
    }
    return Measured(numbers, curves)


def shift_is_linear(seed: int, bench: Bench) -> Measured:
    """M with PE(p + k) = M PE(p) turns each pair of numbers by the angle that PE(k) shows."""
    width, tried = 32, bench.choose(128, 1024, 8192)
    start = int(torch.randint(4096, (1,)))
    index = torch.arange(start, start + tried + 500)
    sinusoids = Sinusoidal(width)
    table, random = sinusoids(index, 10**5).double(), torch.randn(len(index), width, dtype=torch.float64)
    errors: dict[str, list[Point]] = {"sinusoidal": [], "random vectors": []}
    for k in (1, 2, 5, 10, 50, 100, 500):
        pairs = sinusoids(torch.tensor([k]), k + 1)[0].double().view(-1, 2).unbind(-1)
        turns = (torch.stack([c, s, -s, c]).view(2, 2) for s, c in zip(*pairs, strict=True))
        turn = torch.block_diag(*turns)
        fitted = torch.linalg.lstsq(random[:tried], random[k : k + tried]).solution.T
        for name, positions, matrix in (("sinusoidal", table, turn), ("random vectors", random, fitted)):
            there = positions[k : k + tried]
            errors[name].append((k, float((positions[:tried] @ matrix.T - there).norm() / there.norm())))
    return Measured({name: max(error for _, error in points) for name, points in errors.items()}, errors)


def embedding_balance(seed: int, bench: Bench) -> Measured:
    vocab = bench.choose(500, 5000, 5000)
    ratios: dict[str, list[Point]] = {"N(0, 1), torch's default": [], "Xavier": [], "N(0, 1/d)": []}
    unscaled = []
    for width in bench.choose((32, 64), (32, 128, 512), (32, 128, 512, 1024)):
        position = Sinusoidal(width)(torch.arange(128), 128).square().mean().sqrt()
        for name, start in (("N(0, 1), torch's default", None), ("Xavier", init.xavier), ("N(0, 1/d)", init.scaled)):
            embed = Embeddings(vocab, width)
            if start is not None:
                start(embed)
            size = embed.tokens.weight.detach().square().mean().sqrt() * embed.scale
            ratios[name].append((width, float(size / position)))
        unscaled.append(float(size / position) / math.sqrt(width))
    numbers = {name: points[-1][1] for name, points in ratios.items()} | {"unscaled": unscaled[-1]}
    return Measured(numbers, ratios)
