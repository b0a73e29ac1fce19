"""What else could have come: the likeliest tokens after a prefix."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from sublayer.errors import ConfigError
from sublayer.generate.candidates import top
from sublayer.generate.decoding import Decoding, without


class Alternative(NamedTuple):
    token: int
    logp: float


def alternatives(decoding: Decoding, prefix: Tensor, k: int, *, never: Sequence[int] = ()) -> list[list[Alternative]]:
    """The k likeliest next tokens after each prefix (B, n), best first, with their log-probabilities.

    Of equally likely ones the lower id stands first. Impossible tokens are left out, so there may be fewer.
    To see the alternatives at a position of a text, give what stands before it. Raises ConfigError for k below 1.
    """
    if k < 1:
        raise ConfigError(f"k={k}: ask for at least 1 alternative.")
    best, at = top(without(decoding, never, prefix.device).step(prefix), k)
    rows = zip(at.tolist(), best.tolist(), strict=True)
    return [[Alternative(*pair) for pair in zip(*row, strict=True) if pair[1] > -torch.inf] for row in rows]
