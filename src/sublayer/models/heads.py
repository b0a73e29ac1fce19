"""What an encoder's states (B, T, D) are read for. A head is called as head(x, mask); names are those of `build`."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.errors import ConfigError, ShapeError, nearest
from sublayer.nn import Dropout, LayerNorm, Mask
from sublayer.nn.feedforward import Activation, activation
from sublayer.nn.norm import NormFactory

_named = activation  # the argument of the same name hides the function


class MaskedLM(nn.Module):
    """W Norm(act(W_dense x)) + b: (B, T, D) -> logits (B, T, V). Devlin et al. 2019, section 3.1.

    width  of the vectors that meet W, the token embeddings' own where both are tied; d_model by default
    bias   of W_dense
    """

    def __init__(
        self,
        d_model: int,
        vocab_size: int,
        *,
        width: int | None = None,
        activation: str | Activation = "gelu",
        norm: NormFactory = LayerNorm,
        bias: bool = True,
    ) -> None:
        super().__init__()
        width = d_model if width is None else width
        self.dense = nn.Linear(d_model, width, bias=bias)
        self.act = _named(activation)
        self.norm = norm(width)
        self.project = nn.Linear(width, vocab_size)

    def forward(self, x: Tensor, mask: Mask | None = None) -> Tensor:
        return self.project(self.norm(self.act(self.dense(x))))


class Replaced(nn.Module):
    """Of each token how much it looks replaced: w act(W_dense x) + b, (B, T, D) -> logits (B, T). Clark et al. 2020."""

    def __init__(self, d_model: int, *, activation: str | Activation = "gelu") -> None:
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.act = _named(activation)
        self.project = nn.Linear(d_model, 1)

    def forward(self, x: Tensor, mask: Mask | None = None) -> Tensor:
        return self.project(self.act(self.dense(x))).squeeze(-1)


class Pooler(nn.Module):
    """act(W x_first): (B, T, D) -> (B, D). Devlin et al. 2019, section 3.1."""

    def __init__(self, d_model: int, *, activation: str | Activation = "tanh") -> None:
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.act = _named(activation)

    def forward(self, x: Tensor, mask: Mask | None = None) -> Tensor:
        return self.act(self.dense(first(x, mask)))


class Classes(nn.Module):
    """Of each text a class: W Dropout(Pooler(x)), (B, T, D) -> logits (B, classes)."""

    def __init__(
        self, d_model: int, *, classes: int = 2, activation: str | Activation = "tanh", dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.pool = Pooler(d_model, activation=activation)
        self.dropout = Dropout(dropout)
        self.classes = nn.Linear(d_model, classes)

    def forward(self, x: Tensor, mask: Mask | None = None) -> Tensor:
        return self.classes(self.dropout(self.pool(x, mask)))


class TokenClasses(nn.Module):
    """Of each token a class: W Dropout(x), (B, T, D) -> logits (B, T, classes)."""

    def __init__(self, d_model: int, *, classes: int = 2, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.classes = nn.Linear(d_model, classes)

    def forward(self, x: Tensor, mask: Mask | None = None) -> Tensor:
        return self.classes(self.dropout(x))


Span = partial(TokenClasses, classes=2, dropout=0.0)
"""Where an answer begins and ends: (B, T, 2), logits of the first token and of the last. Devlin et al. 2019, 4.2."""


class SentenceVector(nn.Module):
    """One vector a text: (B, T, D) -> (B, D). Reimers and Gurevych 2019, section 3.

    pool       mean, max: of the real tokens; first: the first of them
    normalize  to length 1, so that a product of two vectors is their cosine
    """

    def __init__(self, d_model: int, *, pool: str = "mean", normalize: bool = False) -> None:
        super().__init__()
        if pool not in POOLS:
            raise ConfigError(f"pool={pool!r} is unknown. {nearest(pool, POOLS)}")
        self.pool, self.normalize = pool, normalize

    def forward(self, x: Tensor, mask: Mask | None = None) -> Tensor:
        vector = POOLS[self.pool](x, mask)
        return F.normalize(vector, dim=-1) if self.normalize else vector


def first(x: Tensor, mask: Mask | None = None) -> Tensor:
    """(B, T, D) -> (B, D): the state of the first real token, on whichever side the padding is."""
    place = _real(x, mask).int().argmax(1)
    return x[torch.arange(len(x), device=x.device), place]


def mean(x: Tensor, mask: Mask | None = None) -> Tensor:
    """(B, T, D) -> (B, D) over the real tokens."""
    real = _real(x, mask)[..., None]
    return x.masked_fill(~real, 0.0).sum(1) / real.sum(1).clamp(min=1)


def greatest(x: Tensor, mask: Mask | None = None) -> Tensor:
    """(B, T, D) -> (B, D): the greatest of each number over the real tokens."""
    return x.masked_fill(~_real(x, mask)[..., None], -torch.inf).amax(1)


POOLS = {"mean": mean, "max": greatest, "first": first}

HEADS: dict[str, Callable[..., nn.Module]] = {
    "masked-lm": MaskedLM,
    "replaced": Replaced,
    "pooler": Pooler,
    "classes": Classes,
    "token-classes": TokenClasses,
    "span": Span,
    "sentence": SentenceVector,
}


def _real(x: Tensor, mask: Mask | None) -> Tensor:
    """(B, T) which positions are real."""
    if mask is None:
        return torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
    if mask.documents is not None or mask.keep is None or mask.keep.size(2) > 1 or mask.keep.size(1) > 1:
        raise ShapeError(
            "To read one vector a text from its states the mask must tell real tokens from padding, (batch, tokens), "
            "and nothing else. Of packed rows take the states of each text apart, as encode_texts does."
        )
    return mask.keep[:, 0, 0].expand(x.shape[:2])
