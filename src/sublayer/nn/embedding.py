"""From token ids to the stream."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.nn.dropout import Dropout


class Embeddings(nn.Module):
    """Dropout(Norm(√d_model · E[ids] + types + positions)). Vaswani et al. 2017, sections 3.4 and 3.5.

    positions    an added position, see `sublayer.nn.position`; None where attention carries them
    scale        what token vectors are multiplied by, √d_model by default: it balances them with the positions
    token_types  how many segment vectors there are (BERT), 0 for none
    norm         a norm at the end (BERT), None for none

    forward: ids (B, T) -> (B, T, D). `start` is the position of the first id, `index` (B, T) gives each its own.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        positions: nn.Module | None = None,
        scale: float | None = None,
        token_types: int = 0,
        norm: nn.Module | None = None,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = positions
        self.types = nn.Embedding(token_types, d_model) if token_types else None
        self.norm = norm
        self.scale = math.sqrt(d_model) if scale is None else scale
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, start: int = 0, index: Tensor | None = None, types: Tensor | None = None) -> Tensor:
        x = self.vectors(ids, start, index, types)
        return self.dropout(x if self.norm is None else self.norm(x))

    def vectors(self, ids: Tensor, start: int, index: Tensor | None, types: Tensor | None) -> Tensor:
        """The sum, before norm and dropout."""
        x = self.tokens(ids) * self.scale
        if self.types is not None:
            x = x + self.types(torch.zeros_like(ids) if types is None else types)
        if self.positions is not None:
            end = start + ids.size(1)
            index = torch.arange(start, end, device=ids.device) if index is None else index
            x = x + self.positions(index, end).to(x.dtype)
        return x


class ProjectedEmbeddings(Embeddings):
    """W · Embeddings(ids) + b: vectors of another width than the stream. Lan et al. 2020, section 3.1.

    forward: ids (B, T) -> (B, T, d_model).
    """

    def __init__(self, vocab_size: int, width: int, *, d_model: int, **options: Any) -> None:
        super().__init__(vocab_size, width, **options)
        self.widen = nn.Linear(width, d_model)

    def forward(self, ids: Tensor, start: int = 0, index: Tensor | None = None, types: Tensor | None = None) -> Tensor:
        return self.widen(super().forward(ids, start, index, types))


class WidenedEmbeddings(Embeddings):
    """Dropout(Norm(W (√d_model · E[ids] + types + positions))): of another width than the stream, widened before the
    norm (He et al. 2021), where `ProjectedEmbeddings` are widened at the end.

    forward: ids (B, T) -> (B, T, d_model).
    """

    def __init__(self, vocab_size: int, width: int, *, d_model: int, **options: Any) -> None:
        super().__init__(vocab_size, width, **options)
        self.widen = nn.Linear(width, d_model, bias=False)

    def vectors(self, ids: Tensor, start: int, index: Tensor | None, types: Tensor | None) -> Tensor:
        return self.widen(super().vectors(ids, start, index, types))


class BagEmbeddings(nn.Module):
    """Dropout(√d_model · (E[word] + mean E[n-grams]) + positions): a word by itself and by how it is spelt.

    Bojanowski et al. 2017, section 3.2, with the mean of the n-grams for their sum, so that long words weigh no more.

    forward: bags (B, T, K) -> (B, T, D). A bag is the id of a word, then ids of n-grams, then zeros, which are none.
    """

    def __init__(
        self, vocab_size: int, d_model: int, *, positions: nn.Module | None = None, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = positions
        self.scale = math.sqrt(d_model)
        self.dropout = Dropout(dropout)

    def forward(self, bags: Tensor, start: int = 0, index: Tensor | None = None) -> Tensor:
        rows, end = bags.flatten(0, 1), start + bags.size(1)
        x = self.tokens(bags[..., 0])
        if bags.size(2) > 1:
            ngrams = F.embedding_bag(rows[:, 1:], self.tokens.weight, mode="mean", padding_idx=0)
            x = x + ngrams.view_as(x)
        x = x * self.scale
        if self.positions is not None:
            index = torch.arange(start, end, device=bags.device) if index is None else index
            x = x + self.positions(index, end).to(x.dtype)
        return self.dropout(x)


class FeatureEmbeddings(nn.Module):
    """Embeddings where only characters stand at positions and features are one bundle.

    Ids from first_feature up are features: they get no position, and the characters are counted without them
    (Wu, Cotterell and Hulden 2021, section 3). Each of the n features of a text holds the whole bundle, their sum / √n:
    what a feature adds does not depend on its company, so bundles never seen as a whole can be read.
    forward: ids (B, T) -> (B, T, D); `index` (B, T) tells how far into its text each id stands.
    """

    def __init__(
        self, vocab_size: int, d_model: int, *, first_feature: int, positions: nn.Module, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = positions
        self.first_feature = first_feature
        self.scale = math.sqrt(d_model)
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, start: int = 0, index: Tensor | None = None) -> Tensor:
        feature, first = ids >= self.first_feature, torch.zeros_like(ids)
        count = (~feature).cumsum(-1)
        if index is not None:  # each text is counted from where it begins
            first = torch.arange(ids.size(1), device=ids.device) - index.expand_as(ids)
            count = count - F.pad(count, (1, 0)).gather(-1, first)
        place = (start + count - 1).clamp(min=0)
        x = self.tokens(ids) * self.scale
        where = self.positions(place, start + ids.size(1)).to(x.dtype)
        feature = feature[..., None]
        bundle = _over_texts(x * feature, first) / _over_texts(feature.to(x.dtype), first).clamp(min=1).sqrt()
        return self.dropout(torch.where(feature, bundle, x + where))


def _over_texts(x: Tensor, first: Tensor) -> Tensor:
    """The sum of x (B, T, D) over each text, at each of its places; `first` (B, T) tells where its text begins."""
    first = first[..., None].expand_as(x)
    return torch.zeros_like(x).scatter_add(1, first, x).gather(1, first)
