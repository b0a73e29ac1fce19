"""Attention without a softmax: keys and values are summed up before a query meets them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat

import torch
import torch.nn.functional as F
from torch import Tensor

from sublayer.errors import ConfigError
from sublayer.nn.cache import KeyValue, Project
from sublayer.nn.mask import Mask

CHUNK = 128
"""Queries between two looks at the running sum."""

BLOCK = 1024
"""Positions that are summed up at a time where none has to wait."""

FeatureMap = Callable[[Tensor], Tensor]


def elu_plus_one(x: Tensor) -> Tensor:
    """elu(x) + 1 (Katharopoulos et al. 2020, equation 7), written so that it stays positive where elu rounds to -1."""
    return x.clamp(max=0).exp() + x.relu()


class Linear:
    """φ(q) Σ φ(k)ᵀ v / φ(q) Σ φ(k)ᵀ over the keys that may be seen. Katharopoulos et al. 2020, sections 3.2 and 3.3.

    Linear in T and S, in time and memory. Under a causal mask the sums run along with the queries, a chunk at a time.
    A scale stands above and below the line and changes nothing. Sums are taken in fp32 at least. A decoding step over
    a cache of keys and values reads them all; over `Running`, which `Decoder.new_cache` gives, its cost is constant.

    feature_map  φ, queries and keys (…, d_k) -> (…, features), nowhere negative

    ConfigError for a mask that tells pairs apart otherwise than causally, and for dropout: there are no weights.
    """

    def __init__(self, feature_map: FeatureMap = elu_plus_one) -> None:
        self.feature_map = feature_map

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
        return self.go_on(q, k, v, mask, None, dropout)[0]

    def go_on(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, past: Tensor | None, dropout: float
    ) -> tuple[Tensor, Tensor]:
        """Output, and the sums over all keys so far (B, G, 1, features, d_v + 1); past: those over keys before k."""
        _refuse(mask, dropout)
        keep = None if mask is None or mask.keep is None else mask.keep[..., -k.size(-2) :].mT[:, :, None]
        attend = self._causal if mask is not None and mask.causal else self._two_sided
        with torch.autocast(q.device.type, enabled=False):
            output, sums = attend(q.unflatten(1, (k.size(1), -1)), k[:, :, None], v[:, :, None], keep, past)
        return output.flatten(1, 2), sums

    def _two_sided(
        self, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None, sums: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """A block at a time: what φ makes of one stays in the processor's cache."""
        keeps = repeat(None) if keep is None else keep.split(BLOCK, -2)
        for part in zip(k.split(BLOCK, -2), v.split(BLOCK, -2), keeps, strict=False):
            sums = _plus(sums, *self._seen(*part))
        assert sums is not None  # there is at least one part, if an empty one
        outputs = [_ratio(self.feature_map(_wide(part)) @ sums).to(v.dtype) for part in q.split(BLOCK, -2)]
        return torch.cat(outputs, -2), sums

    def _causal(
        self, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None, past: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        queries, keys = q.size(-2), k.size(-2)
        query, (key, value) = self.feature_map(_wide(q)), self._seen(k, v, keep)
        before = max(keys - queries, 0)
        sums = _plus(past, key[..., :before, :], value[..., :before, :])
        missing = max(queries - keys, 0)  # the first queries stand before the first key and see nothing
        key, value = (F.pad(x[..., before:, :], (0, 0, missing, 0)) for x in (key, value))
        output, sums = _running(query, key, value, sums)
        return _ratio(output).to(v.dtype), sums

    def _seen(self, k: Tensor, v: Tensor, keep: Tensor | None) -> tuple[Tensor, Tensor]:
        """φ(k), and v with a one: the sum of the ones is what stands below the line."""
        key = self.feature_map(_wide(k))
        key = key if keep is None else key.masked_fill(~keep, 0.0)
        return key, F.pad(_wide(v), (0, 1), value=1.0)

    def memory(self) -> Running:
        """What self-attention decodes with."""
        return Running(self)


def _wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _ratio(output: Tensor) -> Tensor:
    above, below = output[..., :-1], output[..., -1:]
    return above / below.masked_fill(below == 0, 1.0)


def _plus(sums: Tensor | None, key: Tensor, value: Tensor) -> Tensor:
    more = key.mT @ value
    return more if sums is None else sums + more


def _running(query: Tensor, key: Tensor, value: Tensor, sums: Tensor) -> tuple[Tensor, Tensor]:
    """Query i with keys 0 … i: those of earlier chunks are in the sums, those of its own are met one by one."""
    outputs = []
    for q, k, v in zip(*(x.split(CHUNK, -2) for x in (query, key, value)), strict=True):
        outputs.append(q @ sums + (q @ k.mT).tril() @ v)
        sums = _plus(sums, k, v)
    return torch.cat(outputs, -2), sums


def _refuse(mask: Mask | None, dropout: float) -> None:
    if dropout:
        raise ConfigError(f"Linear attention has no weights to drop and dropout is {dropout}: set it to 0.")
    if mask is None:
        return
    keep = mask.keep
    found = [part for part in ("window", "documents", "bias") if getattr(mask, part) is not None]
    if keep is not None and (keep.size(1) > 1 or keep.size(2) > 1):
        found.append(f"keep of shape {tuple(keep.shape)}")
    if found:
        raise ConfigError(
            f"Linear attention can hide keys (batch, keys) and the future, and the mask has {' and '.join(found)}. "
            "Use Local for a window, Fused for the rest."
        )


class Running:
    """Linear attention's memory, a `Cache`: sums in place of keys and values, so that a step costs the same however
    much came before. Katharopoulos et al. 2020, section 3.4.

    It is called for the new keys and values alone, and attends in place of the kernel that made it.
    """

    def __init__(self, kernel: Linear) -> None:
        self.kernel = kernel
        self.length = 0
        self.sums: Tensor | None = None

    def __call__(self, project: Project) -> KeyValue:
        new = project()
        self.length += new.key.size(-2)
        return new

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, *, scale: float | None, dropout: float
    ) -> Tensor:
        output, self.sums = self.kernel.go_on(q, k, v, mask, self.sums, dropout)
        return output

    def select(self, rows: Tensor) -> None:
        self.sums = None if self.sums is None else self.sums.index_select(0, rows)
