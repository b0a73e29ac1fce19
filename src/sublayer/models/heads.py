"""What stands on an encoder: pooling, and maps from hidden states to answers.

A head reads the states (N, D) of real tokens, text after text, and the lengths (B,) of the texts. So no padding can
reach it, and it does not matter whether the texts were padded or packed. The names of heads are those of `build`.
"""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.errors import ConfigError, nearest
from sublayer.models.encoding import real_states
from sublayer.models.inference import ForInference
from sublayer.nn import Dropout, LayerNorm, Mask
from sublayer.nn.feedforward import Activation, activation
from sublayer.nn.norm import NormFactory

Pool = Callable[[Tensor, Tensor], Tensor]

_named = activation  # the argument of the same name hides the function


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


class Pooler(nn.Module):
    """act(W pool(x)): states (N, D), lengths (B,) -> (B, D). Of the first token: Devlin et al. 2019, section 3.1."""

    def __init__(self, d_model: int, *, pool: str = "first", activation: str | Activation = "tanh") -> None:
        super().__init__()
        self.pool = pool_of(pool)
        self.dense = nn.Linear(d_model, d_model)
        self.act = _named(activation)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.act(self.dense(self.pool(x, lengths)))


class Transform(nn.Module):
    """Norm(act(W x)), (…, D) -> (…, D): what ModernBERT's states go through before they are classified, as BERT's do
    before they are mapped to tokens. Devlin et al. 2019, section 3.1; Warner et al. 2024."""

    def __init__(
        self,
        d_model: int,
        *,
        activation: str | Activation = "gelu",
        norm: NormFactory = LayerNorm,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.dense = nn.Linear(d_model, d_model, bias=bias)
        self.act = _named(activation)
        self.norm = norm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.act(self.dense(x)))


class SentenceVector(nn.Module):
    """One vector a text: states (N, D), lengths (B,) -> (B, D). Reimers and Gurevych 2019, section 3.

    normalize  to length 1, so that a product of two vectors is their cosine
    """

    def __init__(self, d_model: int, *, pool: str = "mean", normalize: bool = False) -> None:
        super().__init__()
        self.pool, self.normalize = pool_of(pool), normalize

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        vector = self.pool(x, lengths)
        return F.normalize(vector, dim=-1) if self.normalize else vector


class Classes(nn.Module):
    """Of each text a class: W Dropout(f(pool(x))), states (N, D), lengths (B,) -> logits (B, classes).

    activation  of a `Pooler` that the pooled state goes through first, as in published models; None: there is none
    transform   f, a `Transform` for example; the identity by default
    """

    def __init__(
        self,
        d_model: int,
        *,
        classes: int = 2,
        pool: str = "mean",
        activation: str | Activation | None = None,
        transform: nn.Module | None = None,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.pool = pool_of(pool) if activation is None else Pooler(d_model, pool=pool, activation=activation)
        self.transform = nn.Identity() if transform is None else transform
        self.dropout = Dropout(dropout)
        self.classes = nn.Linear(d_model, classes)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.classes(self.dropout(self.transform(self.pool(x, lengths))))


class TokenClasses(nn.Module):
    """Of each token a class: W Dropout(f(x)), states (N, D) -> logits (N, classes); f as of `Classes`."""

    def __init__(
        self, d_model: int, *, classes: int = 2, transform: nn.Module | None = None, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.transform = nn.Identity() if transform is None else transform
        self.dropout = Dropout(dropout)
        self.classes = nn.Linear(d_model, classes)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.classes(self.dropout(self.transform(x)))


Span = partial(TokenClasses, classes=2, dropout=0.0)
"""Where an answer begins and ends: (N, 2), logits of the first token and of the last. Devlin et al. 2019, 4.2."""


class MaskedLM(nn.Module):
    """W Norm(act(W_dense x)) + b: states (N, D) -> logits (N, V). Devlin et al. 2019, section 3.1.

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

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.project(self.norm(self.act(self.dense(x))))


class Replaced(nn.Module):
    """Of each token how much it looks replaced: w act(W_dense x) + b, (N, D) -> logits (N,). Clark et al. 2020."""

    def __init__(self, d_model: int, *, activation: str | Activation = "gelu") -> None:
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.act = _named(activation)
        self.project = nn.Linear(d_model, 1)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.project(self.act(self.dense(x))).squeeze(-1)


HEADS: dict[str, Callable[..., nn.Module]] = {
    "masked-lm": MaskedLM,
    "replaced": Replaced,
    "pooler": Pooler,
    "classes": Classes,
    "token-classes": TokenClasses,
    "span": Span,
    "sentence": SentenceVector,
}


class EncoderWithHead(ForInference):
    """head(real states of body(ids, mask)): ids (B, T), padded or packed, -> what the head gives.

    body  an encoder, called as body(ids, mask), that gives (B, T, D); with `types` too, where segments are told apart
    """

    def __init__(self, body: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.head = head

    def forward(
        self,
        ids: Tensor,
        mask: Mask | Tensor | None = None,
        types: Tensor | None = None,
        places: Tensor | None = None,
    ) -> Tensor:
        """places  (P,) which of the N real tokens a head for tokens reads; None: all"""
        mask = Mask.of(mask)
        typed = {} if types is None else {"types": types}
        states, lengths = real_states(self.body(ids, mask, **typed), mask)
        return self.head(states if places is None else states[places], lengths)
