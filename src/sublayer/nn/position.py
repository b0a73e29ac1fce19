"""Positions that are added to the embeddings, and those that turn queries and keys.

An added position is called as positions(index, end) with index (T,) or (B, T) of whole numbers below `end`, and
gives (T, D) or (B, T, D) in fp32. Angles are computed in fp32 whatever the model's type, and afresh at each call:
there is no table that could be cast, end or grow. Frequencies are plain tensors, not buffers, for the same reason.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor, nn

from sublayer.errors import ConfigError, ShapeError

Layout = Literal["interleaved", "halves"]


def _frequencies(width: int, theta: float) -> Tensor:
    """theta^(-2i / width) for i = 0, 1, … below width / 2, in fp32."""
    exponents = torch.arange(0, width, 2, device="cpu", dtype=torch.float32) / width
    return torch.exp(exponents * -math.log(theta))


@contextmanager
def stretched(model: nn.Module, factor: float) -> Iterator[None]:
    """Every `Sinusoidal` and `Rotary` of the model stands at factor · position for the length of the `with`.

    Trained under factors a little above 1, a model has stood at positions and distances beyond its longest text,
    and reads longer ones. Positions from a longer range than the text's: Ruoss et al. 2023, section 3.
    """
    before = {part: part.frequencies for part in model.modules() if isinstance(part, Sinusoidal | Rotary)}
    try:
        for part, frequencies in before.items():
            part.frequencies = frequencies * factor
        yield
    finally:
        for part, frequencies in before.items():
            part.frequencies = frequencies


class Sinusoidal(nn.Module):
    """sin(p / 10000^(2i/d)) and cos of the same. Vaswani et al. 2017, section 3.5.

    layout  "interleaved": sin, cos, sin, cos, … (the paper); "halves": all sines, then all cosines (Marian)
    An odd width has one sine more than cosines.
    """

    def __init__(self, d_model: int, *, layout: Layout = "interleaved", theta: float = 10000.0) -> None:
        super().__init__()
        if layout not in ("interleaved", "halves"):
            raise ConfigError(f"layout={layout!r} is unknown. Write 'interleaved' or 'halves'.")
        self.d_model, self.layout, self.theta = d_model, layout, theta
        self.frequencies = _frequencies(d_model, theta)

    def forward(self, index: Tensor, end: int) -> Tensor:
        angles = index[..., None] * self.frequencies.to(index.device)
        if self.layout == "halves":
            return torch.cat((angles.sin(), angles.cos()), -1)[..., : self.d_model]
        return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)[..., : self.d_model]


class FairseqSinusoidal(Sinusoidal):
    """All sines, then all cosines, as fairseq has them: the last frequency is 1 / theta itself, and a text's first
    position is number `offset`. An even width."""

    def __init__(self, d_model: int, *, offset: int = 2, theta: float = 10000.0) -> None:
        super().__init__(d_model, layout="halves", theta=theta)
        if d_model % 2 or d_model < 4:
            raise ConfigError(f"fairseq's sinusoids come in pairs, and d_model={d_model}: choose 4, 6, 8 or more.")
        self.offset = offset
        place = torch.arange(d_model // 2, device="cpu", dtype=torch.float32)
        self.frequencies = torch.exp(place * (-math.log(theta) / (d_model // 2 - 1)))

    def forward(self, index: Tensor, end: int) -> Tensor:
        return super().forward(index + self.offset, end + self.offset)


class Learned(nn.Module):
    """A vector for each position below max_len. Gehring et al. 2017, section 3.1; Devlin et al. 2019.

    offset  where position 0 stands in the table (2 in BART). ShapeError past the end, before anything runs.
    """

    def __init__(self, max_len: int, d_model: int, *, offset: int = 0) -> None:
        super().__init__()
        self.max_len, self.offset = max_len, offset
        self.table = nn.Embedding(max_len + offset, d_model)

    def forward(self, index: Tensor, end: int) -> Tensor:
        if end > self.max_len and (last := int(index.max())) >= self.max_len:  # a packed row holds many positions
            raise ShapeError(
                f"a sequence of {last + 1} positions is longer than the {self.max_len} that were learned. "
                "Cut the text, or build the model with a larger max_len, or with sinusoidal positions."
            )
        return self.table(index + self.offset)


class Rotary(nn.Module):
    """Turns each pair of numbers by an angle that grows with the position, so that scores depend on the distance
    alone. Su et al. 2021, section 3.4. (B, H, T, d_k) -> the same. `index` (B, T) gives each its own position.

    layout  "halves": pairs (i, i + d/2) (Llama, ModernBERT); "interleaved": pairs (2i, 2i + 1) (the paper)
    """

    def __init__(self, d_k: int, *, layout: Layout = "halves", theta: float = 10000.0) -> None:
        super().__init__()
        if d_k % 2:
            raise ConfigError(f"Rotary turns pairs, and d_k={d_k} is odd. Choose an even head width.")
        self.d_k, self.layout, self.theta = d_k, layout, theta
        self.frequencies = _frequencies(d_k, theta)

    def forward(self, x: Tensor, start: int = 0, index: Tensor | None = None) -> Tensor:
        place = torch.arange(start, start + x.size(-2), device=x.device) if index is None else index[:, None]
        angles = place[..., None] * self.frequencies.to(x.device)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        if self.layout == "halves":
            a, b = x.chunk(2, -1)
            return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
        a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
