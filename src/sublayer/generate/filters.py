"""What sampling makes of a distribution. Each function takes log-probabilities (N, V) and gives such.

What a filter takes out is -inf, and the rest is normalised again. The likeliest token always stays; of
equally likely ones the lower id stands first.
"""

import math

import torch
from torch import Tensor

from sublayer.generate.candidates import top


def temperature(logps: Tensor, t: float) -> Tensor:
    """p^(1/t), normalised: sharper below 1, flatter above."""
    return (logps / t).log_softmax(-1)


def top_k(logps: Tensor, k: int) -> Tensor:
    """The k likeliest tokens.     Fan et al. 2018"""
    _, at = top(logps, k)
    return only(logps, torch.zeros_like(logps, dtype=torch.bool).scatter(-1, at.to(logps.device), True))


def top_p(logps: Tensor, p: float) -> Tensor:
    """The nucleus: the fewest, likeliest tokens that have probability p together.     Holtzman et al. 2020"""
    ordered, at = logps.sort(dim=-1, descending=True, stable=True)
    above = ordered.exp().cumsum(-1) - ordered.exp()
    return only(logps, torch.empty_like(logps, dtype=torch.bool).scatter(-1, at, above < p))


def min_p(logps: Tensor, p: float) -> Tensor:
    """The tokens at least p times as likely as the likeliest.     Nguyen et al. 2024"""
    return only(logps, logps >= logps.amax(-1, keepdim=True) + math.log(p))


def only(logps: Tensor, keep: Tensor) -> Tensor:
    return logps.masked_fill(~keep, -torch.inf).log_softmax(-1)
