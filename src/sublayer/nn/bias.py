"""Positions that are added to the scores. Called as bias(queries, keys, device) -> (1, H, T, S); the last query stands
at the last key. An `Encoder` or `Decoder` takes one as `bias=` and lets it ride in the mask of every layer."""

import math

import torch
from torch import Tensor, nn

from sublayer.errors import ConfigError


def _distance(queries: int, keys: int, device: torch.device) -> Tensor:
    """(T, S): position of the key minus position of the query."""
    return torch.arange(keys, device=device) - torch.arange(keys - queries, keys, device=device)[:, None]


class RelativeBias(nn.Module):
    """T5's learned bias a head and a bucket of distances. Raffel et al. 2020, section 2.1.

    Half of the buckets hold the exact distances, the rest grow logarithmically up to max_distance.
    bidirectional  keys after the query have buckets of their own (an encoder); else they share bucket 0
    """

    def __init__(
        self, num_heads: int, *, buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
    ) -> None:
        super().__init__()
        if buckets < 4 or buckets % 2 or max_distance <= buckets // 2:
            raise ConfigError(
                f"buckets={buckets} and max_distance={max_distance}: choose an even number of buckets, 4 or more, "
                "and a max_distance above half of it."
            )
        self.buckets, self.max_distance, self.bidirectional = buckets, max_distance, bidirectional
        self.table = nn.Embedding(buckets, num_heads)

    def bucket(self, distance: Tensor) -> Tensor:
        """The bucket of each key-minus-query distance."""
        buckets, base = self.buckets, torch.zeros_like(distance)
        if self.bidirectional:
            buckets //= 2
            base = (distance > 0) * buckets
            distance = distance.abs()
        else:
            distance = -distance.clamp(max=0)
        exact = buckets // 2
        growth = torch.log(distance.clamp(min=1).float() / exact) / math.log(self.max_distance / exact)
        far = (exact + (growth * (buckets - exact)).long()).clamp(max=buckets - 1)
        return base + torch.where(distance < exact, distance, far)

    def forward(self, queries: int, keys: int, device: torch.device) -> Tensor:
        distance = _distance(queries, keys, device)
        return self.table(self.bucket(distance)).permute(2, 0, 1)[None]


class Alibi(nn.Module):
    """A penalty that grows with the distance, at a slope of its own for each head. Press et al. 2022, section 3."""

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads

    def slopes(self) -> list[float]:
        """2^(-8 i / n) for n a power of two; else those of the power below, then every second one of the next."""
        power = 2 ** math.floor(math.log2(self.num_heads))
        first = [2 ** (-8 * i / power) for i in range(1, power + 1)]
        between = [2 ** (-4 * i / power) for i in range(1, 2 * power + 1, 2)]
        return (first + between)[: self.num_heads]

    def forward(self, queries: int, keys: int, device: torch.device) -> Tensor:
        slopes = torch.tensor(self.slopes(), device=device)
        return -slopes[:, None, None] * _distance(queries, keys, device).abs()[None, None]
