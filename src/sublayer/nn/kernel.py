"""How attention is computed. Every exact kernel equals `Eager`.

A kernel is called as kernel(q, k, v, mask, scale=…, dropout=…) with
q (B, H, T, d_k), k (B, G, S, d_k), v (B, G, S, d_v), G dividing H, and gives (B, H, T, d_v).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from sublayer.nn.documents import Run
from sublayer.nn.mask import Mask

ScoreMod = Callable[[Tensor], Tensor]


class Kernel(Protocol):
    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, *, scale: float | None, dropout: float
    ) -> Tensor: ...


def masked_softmax(scores: Tensor, mask: Mask | None) -> Tensor:
    """Softmax over the keys that may be seen. A query that may see none gets zeros, never NaN."""
    if mask is None:
        return scores.softmax(-1)
    visible = mask.visible(scores.size(-2), scores.size(-1), scores.device)
    if mask.bias is not None:
        scores = scores + mask.bias.to(scores.dtype)
        finite = ~torch.isneginf(scores)  # a bias of -inf hides too
        visible = finite if visible is None else visible & finite
    if visible is None:
        return scores.softmax(-1)
    # The dtype's own lowest number: -1e9 does not exist in fp16, and -inf makes a dead row NaN.
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~visible, lowest).softmax(-1)
    return weights * visible.any(-1, keepdim=True)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Mask | Tensor | None = None,
    dropout: Callable[[Tensor], Tensor] | None = None,
    *,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(Q Kᵀ / √d_k) V. Vaswani et al. 2017, equation 1.

    query (B, T, d_k) or (B, H, T, d_k), key and value likewise with S positions. Returns the output and the
    weights (rows sum to 1, hidden entries are 0; taken before dropout).
    """
    if query.dim() == 3:
        q, k, v = query[:, None], key[:, None], value[:, None]
        output, weights = attention(q, k, v, mask, dropout, scale=scale, score_mod=score_mod)
        return output[:, 0], weights[:, 0]
    mask = Mask.of(mask)
    if mask is not None:
        mask.check(query.size(0), query.size(1), query.size(2), key.size(-2))
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * scale
    if score_mod is not None:
        scores = score_mod(scores)
    weights = masked_softmax(scores, mask)
    return (weights if dropout is None else dropout(weights)) @ value, weights


class Eager:
    """The formula, spelled out: the reference for every other kernel.

    score_mod  changes the scores (B, H, T, S) before the mask, a soft cap for example
    """

    def __init__(self, score_mod: ScoreMod | None = None) -> None:
        self.score_mod = score_mod

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Mask | None = None,
        *,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        return self.weigh(q, k, v, mask, scale=scale, dropout=dropout)[0]

    def weigh(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, *, scale: float | None, dropout: float
    ) -> tuple[Tensor, Tensor]:
        """The output and the weights (B, H, T, S) before dropout."""
        groups = q.size(1) // k.size(1)
        if groups > 1:
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        drop = partial(F.dropout, p=dropout) if dropout else None
        return attention(q, k, v, mask, drop, scale=scale, score_mod=self.score_mod)


class Fused:
    """`torch.nn.functional.scaled_dot_product_attention`: the same numbers, without the (T, S) weights in memory.

    In packed rows each run of equally long documents is a batch of its own, so nothing is computed across documents.
    """

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Mask | None = None,
        *,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        if mask is not None and (runs := runs_of(mask, q.size(0), q.size(2))):
            inside = replace(mask, documents=None, query_documents=None)
            attend = partial(self, mask=inside, scale=scale, dropout=dropout)
            return run_by_run(attend, q, k, v, runs)
        queries, keys = q.size(-2), k.size(-2)
        seen, causal = None, False
        if mask is not None and _only_causal(mask) and queries == keys:
            causal = True
        elif mask is not None:
            seen = _additive(mask, queries, keys, q)
        sdpa = partial(
            F.scaled_dot_product_attention,
            dropout_p=dropout,
            is_causal=causal,
            scale=scale,
            enable_gqa=q.size(1) != k.size(1),
        )
        return _in_fp32(sdpa, q, k, v, seen) if _slow_backward(q) else sdpa(q, k, v, seen)


def runs_of(mask: Mask, batch: int, queries: int) -> list[Run] | None:
    """Those of the mask, where it has documents for just these queries. Compiled code takes the mask as it is."""
    if mask.documents is None or mask.asking is None or torch.compiler.is_compiling():
        return None
    fits = mask.documents.size(0) == batch and mask.asking.size(1) == queries
    return mask.runs if fits else None


def run_by_run(attend: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor, runs: Sequence[Run]) -> Tensor:
    """Rows end to end (B·T, H, d), cut into runs, each run a batch (documents, H, t, d): views, but for the result."""
    cuts = [run.documents * run.queries for run in runs], [run.documents * run.keys for run in runs]
    parts = [x.transpose(1, 2).flatten(0, 1).split(c) for x, c in ((q, cuts[0]), (k, cuts[1]), (v, cuts[1]))]
    outputs = []
    for run, *heads in zip(runs, *parts, strict=True):
        batch = (x.unflatten(0, (run.documents, -1)).transpose(1, 2) for x in heads)
        outputs.append(attend(*batch).transpose(1, 2).flatten(0, 1))
    return torch.cat(outputs).unflatten(0, (q.size(0), -1)).transpose(1, 2)


def _slow_backward(q: Tensor) -> bool:
    """On CPU the library's gradients in bf16 take 4 to 7 times as long as those in fp32."""
    return q.dtype is torch.bfloat16 and q.device.type == "cpu" and q.requires_grad


def _in_fp32(sdpa: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None) -> Tensor:
    with torch.autocast(q.device.type, enabled=False):
        seen = seen.float() if seen is not None and seen.is_floating_point() else seen
        return sdpa(q.float(), k.float(), v.float(), seen).to(q.dtype)


def _only_causal(mask: Mask) -> bool:
    return mask.causal and all(x is None for x in (mask.keep, mask.window, mask.documents, mask.bias))


def _additive(mask: Mask, queries: int, keys: int, like: Tensor) -> Tensor | None:
    """What SDPA takes: bool where there is no bias, else the bias with -inf where nothing may be seen."""
    visible = mask.visible(queries, keys, like.device)
    if mask.bias is None:
        return visible
    bias = mask.bias.to(like.dtype)
    return bias if visible is None else bias.masked_fill(~visible, -math.inf)
