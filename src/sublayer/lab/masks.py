"""What stands for minus infinity, and which axis a mask lies along."""

import torch
from torch import Tensor

from sublayer.lab.claim import Bench, Measured
from sublayer.nn import Mask, masked_softmax

FILLS = ("-1e9", "-inf", "ours")


def _weights(scores: Tensor, keep: Tensor, fill: str) -> Tensor | None:
    """None where the fill is no number of the scores' type."""
    if fill == "ours":
        return masked_softmax(scores, Mask(keep=keep))
    try:
        return scores.masked_fill(~keep, float(fill)).softmax(-1)
    except RuntimeError:
        return None


def _harm(weights: Tensor | None, keep: Tensor) -> float:
    """The greatest weight that lands on a hidden key; 1 for NaN, and where nothing could be computed."""
    if weights is None or not weights.isfinite().all():
        return 1.0
    return float(weights.masked_fill(keep, 0).sum(-1).max())


def minus_infinity(seed: int, bench: Bench) -> Measured:
    tokens = bench.choose(8, 64, 256)
    scores = 4 * torch.randn(2, 2, tokens, tokens)
    some = torch.ones(1, 1, 1, tokens, dtype=torch.bool)
    some[..., tokens // 2 :] = False
    dead = torch.zeros_like(some)
    cases = {
        "fp32": (scores, some),
        "fp32, dead row": (scores, dead),
        "fp16": (scores.half(), some),
        "fp16, dead row": (scores.half(), dead),
        "bf16, dead row": (scores.bfloat16(), dead),
    }
    harm = {fill: {name: _harm(_weights(*case, fill), case[1]) for name, case in cases.items()} for fill in FILLS}
    numbers = {f"{fill}, {name}": value for fill, found in harm.items() for name, value in found.items()}
    numbers["ours, worst"] = max(harm["ours"].values())
    return Measured(numbers, {fill: [*found.items()] for fill, found in harm.items()})


def mask_axis(seed: int, bench: Bench) -> Measured:
    """Tutorial A's unsqueeze(1) of a (B, T) mask, where the number of heads equals the batch."""
    batch, tokens = bench.choose(2, 8, 32), 12
    lengths = torch.randint(3, tokens + 1, (batch,))
    keep = torch.arange(tokens) < lengths[:, None]
    scores = torch.randn(batch, batch, tokens, tokens)  # (B, H, T, S) with H = B
    right = masked_softmax(scores, Mask.padding(keep))
    theirs = scores.masked_fill(keep.unsqueeze(1) == 0, float("-inf")).softmax(-1)
    hidden = ~keep[:, None, None, :]
    padding = (theirs * hidden).sum(-1).mean((0, 2))
    wrong = ((theirs - right).abs().amax((2, 3)) > 1e-6).float()
    refused = 0.0
    try:
        scores[:, : batch // 2 + 1].masked_fill(keep.unsqueeze(1) == 0, float("-inf"))
    except RuntimeError:
        refused = 1.0
    numbers = {"wrong": float(wrong.mean()), "on padding": float(padding.mean()), "refused": refused}
    numbers["ours"] = float((right * hidden).sum(-1).max())
    kinds = (
        ("heads that read another sample's mask", numbers["wrong"]),
        ("weight on padding", numbers["on padding"]),
        ("weight on padding, ours", numbers["ours"]),
    )
    return Measured(numbers, {"": [*kinds]})
