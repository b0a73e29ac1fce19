"""What attention heads do, in numbers, and what flows through all layers."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from sublayer.errors import ShapeError


class Heads(NamedTuple):
    """Of each head (H,), the mean over the queries that it is defined for; nan where there is none.

    entropy    of the weights, in nats: 0 looks at one position, log S at all alike
    distance   |t - s|, weighted
    previous   share of the weight that goes to the position before
    following  to the position behind
    own        to the query's own position
    same       to other positions that hold the query's token; None where no tokens are given
    """

    entropy: Tensor
    distance: Tensor
    previous: Tensor
    following: Tensor
    own: Tensor
    same: Tensor | None


def head_statistics(weights: Tensor, tokens: Tensor | None = None, keep: Tensor | None = None) -> Heads:
    """Of self-attention weights (B, H, T, T). Clark et al. 2019, section 3.

    tokens  (B, T) ids
    keep    (B, T) which positions are real; a query that sees nothing is never counted
    """
    if weights.dim() != 4 or weights.size(-1) != weights.size(-2):
        raise ShapeError(f"weights have shape {tuple(weights.shape)}, expected (batch, heads, T, T) of self-attention.")
    w = weights.double()
    place = torch.arange(w.size(-1), device=w.device)
    apart = place[None, :] - place[:, None]  # s - t
    counted = w.sum(-1) > 0
    there = torch.ones_like(apart, dtype=torch.bool)
    if keep is not None:
        counted, there = counted & keep[:, None], keep[:, None, None]

    def mean(values: Tensor, where: Tensor = counted) -> Tensor:
        where = where.expand_as(values)
        return values.where(where, 0).sum((0, 2)) / where.sum((0, 2))

    def share(of: Tensor) -> Tensor:
        """Of the weight, what goes to these pairs (T, T) or (B, 1, T, T), over the queries that have one."""
        return mean((w * of).sum(-1), counted & (of & there).any(-1))

    same = None
    if tokens is not None:
        alike = tokens[:, None, :, None] == tokens[:, None, None, :]
        same = share(alike & (apart != 0))
    return Heads(
        entropy=mean(-torch.xlogy(w, w).sum(-1)),
        distance=mean((w * apart.abs()).sum(-1)),
        previous=share(apart == -1),
        following=share(apart == 1),
        own=share(apart == 0),
        same=same,
    )


def rollout(layers: Sequence[Tensor], *, residual: float = 0.5) -> list[Tensor]:
    """What each position holds of each input after each layer, (..., T, T). Abnar and Zuidema 2020, section 3.

        A_l = residual · I + (1 - residual) · mean of heads,  rows summing to 1        R_l = A_l R_{l-1}

    layers    self-attention weights (..., H, T, T), the lowest layer first
    residual  how much of a position the residual step keeps: ½ in the paper
    """
    found: list[Tensor] = []
    for i, weights in enumerate(layers):
        if weights.dim() < 3 or weights.size(-1) != weights.size(-2):
            raise ShapeError(f"layer {i}: weights have shape {tuple(weights.shape)}, expected (…, heads, T, T).")
        kept = torch.eye(weights.size(-1), dtype=weights.dtype, device=weights.device)
        mixed = residual * kept + (1 - residual) * weights.mean(-3)
        mixed = mixed / mixed.sum(-1, keepdim=True)  # a position that sees nothing keeps itself
        found.append(mixed @ found[-1] if found else mixed)
    return found


def by_word(weights: Tensor, rows: Sequence[int], columns: Sequence[int]) -> Tensor:
    """(..., T, S) between tokens -> (..., words, words): the sum over the tokens of the word that is looked at, the
    mean over those of the word that looks. Clark et al. 2019, section 4.1.

    rows, columns  for each token the number of its word, as `Tokenizer.words(text).of` says; -1: it is left out,
                   and with it the share that it was given, as of white space. Where every token has a number, special
                   tokens one of their own, rows still sum to 1.
    """
    if weights.shape[-2:] != (len(rows), len(columns)):
        raise ShapeError(
            f"weights have shape {tuple(weights.shape)} and there are words for {len(rows)} rows and {len(columns)} "
            "columns: give each token of both sides the number of its word."
        )
    looking, looked = _members(rows, weights), _members(columns, weights)
    return (looking / looking.sum(0).clamp(min=1)).T @ weights @ looked


def _members(words: Sequence[int], like: Tensor) -> Tensor:
    """(tokens, words): 1 where the token belongs to the word."""
    of = torch.tensor(words, device=like.device)
    return (of[:, None] == torch.arange(max(words, default=-1) + 1, device=like.device)).to(like.dtype)
