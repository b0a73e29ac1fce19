"""What stands on an encoder: pooling, and maps from hidden states to answers.

A head reads the states (N, D) of real tokens, text after text, and the lengths (B,) of the texts. So no padding can
reach it, and it does not matter whether the texts were padded or packed.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from sublayer.errors import ConfigError, nearest
from sublayer.models.encoding import real_states
from sublayer.models.inference import ForInference
from sublayer.nn import Mask
from sublayer.nn.dropout import Dropout

Pool = Callable[[Tensor, Tensor], Tensor]


def mean(x: Tensor, lengths: Tensor) -> Tensor:
    """(N, D) -> (B, D): the mean over the tokens of each text."""
    return torch.segment_reduce(x, "mean", lengths=lengths)


def largest(x: Tensor, lengths: Tensor) -> Tensor:
    """(N, D) -> (B, D): in each dimension the largest of the tokens of each text."""
    return torch.segment_reduce(x, "max", lengths=lengths)


def first(x: Tensor, lengths: Tensor) -> Tensor:
    """(N, D) -> (B, D): the first token of each text, which stands for it all (Devlin et al. 2019, section 3)."""
    return x[lengths.cumsum(0) - lengths]


POOLS: dict[str, Pool] = {"mean": mean, "max": largest, "first": first}


def pool_of(kind: str) -> Pool:
    if kind not in POOLS:
        raise ConfigError(f"pooling {kind!r} is unknown. {nearest(kind, POOLS)}")
    return POOLS[kind]


class ClassHead(nn.Module):
    """project(Dropout(pool(x))): states (N, D), lengths (B,) -> logits (B, C)."""

    def __init__(self, d_model: int, classes: int, pool: Pool = mean, dropout: float = 0.1) -> None:
        super().__init__()
        self.pool = pool
        self.dropout = Dropout(dropout)
        self.project = nn.Linear(d_model, classes)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.project(self.dropout(self.pool(x, lengths)))


class TokenHead(nn.Module):
    """project(Dropout(x)): states (N, D) -> logits (N, C), a row a token."""

    def __init__(self, d_model: int, classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.project = nn.Linear(d_model, classes)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.project(self.dropout(x))


class WithHead(ForInference):
    """head(real states of body(ids, mask)): ids (B, T), padded or packed, -> what the head gives.

    body  an encoder, called as body(ids, mask), that gives (B, T, D)
    """

    def __init__(self, body: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.head = head

    def forward(self, ids: Tensor, mask: Mask | Tensor | None = None) -> Tensor:
        return self.head(*real_states(self.body, ids, Mask.of(mask)))
