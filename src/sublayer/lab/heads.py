"""Many heads, and what they look at."""

import torch
from torch import Tensor

from sublayer.inspect import attention_maps
from sublayer.lab.claim import Bench, Measured
from sublayer.lab.pronounce import learn_words, pronounce
from sublayer.lab.small import heads

PATTERNS = ("the token itself", "the one before", "5 and more away")


def many(seed: int, bench: Bench) -> Measured:
    counts = bench.choose((1, 4), (1, 2, 4, 8, 16), (1, 2, 4, 8, 16, 32))
    losses = {count: learn_words(seed, bench, attn=heads(count)).loss for count in counts}
    best = min(loss for count, loss in losses.items() if count > 1)
    numbers = {"several": losses[1] - losses[4], "best": losses[1] - best, "more": losses[4] - losses[counts[-1]]}
    return Measured(numbers, {"": [*losses.items()]})


def patterns(weights: Tensor) -> Tensor:
    """Weights (H, T, T) of one text -> (H, 3): the mean share of attention to each of PATTERNS."""
    tokens = weights.size(-1)
    away = (torch.arange(tokens)[:, None] - torch.arange(tokens)).abs()
    itself, before = weights.diagonal(dim1=-2, dim2=-1).mean(-1), weights.diagonal(-1, -2, -1).mean(-1)
    return torch.stack((itself, before, (weights * (away >= 5)).sum(-1).mean(-1)), -1)


@torch.no_grad()
def specialise(seed: int, bench: Bench) -> Measured:
    """How far the heads of a small causal model differ in their patterns, fresh and trained."""
    batch = pronounce(held_out=True)(1, torch.Generator())
    shares = {}
    for name, pace in (("fresh", 0.0), ("trained", 2.0)):
        with torch.enable_grad():
            model = learn_words(seed, bench, pace=pace).model
        with attention_maps(model) as maps:
            model(batch.ids[:64], batch.mask)
        rows = [patterns(text) for weights in maps.values() for text in weights]
        texts = len(batch.ids[:64])
        shares[name] = torch.stack(rows).unflatten(0, (-1, texts)).mean(1).flatten(0, 1)  # (layers · H, 3)
    spread = {name: share.std(0).mean() for name, share in shares.items()}
    top = {name: share.amax(0) for name, share in shares.items()}
    numbers = {
        "spread": float(spread["trained"] - spread["fresh"]),
        "before": float(top["trained"][1]),
        "itself": float(top["trained"][0]),
        "far": float(top["trained"][2]),
    }
    curves = {name: list(zip(PATTERNS, values.tolist(), strict=True)) for name, values in top.items()}
    return Measured(numbers, curves)
