"""What int8 costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import nn

from sublayer.models.inference import LARGE
from sublayer.nn import Int8Linear
from sublayer.tasks.search import Search
from sublayer.tasks.teaching import translation_loss
from sublayer.tasks.translate import Translate


@dataclass(frozen=True, slots=True)
class Cost:
    """Of int8, on some lines.

    maps, of   how many of the linear maps are int8
    logp       the mean log-probability of a token of the fp32 model's greedy answers, int8's minus fp32's
    identical  how many of the int8 model's greedy answers to the `lines` are the same, token for token
    """

    maps: int
    of: int
    logp: float
    identical: int
    lines: int

    def __str__(self) -> str:
        if not self.maps:
            return f"int8: none of {self.of} linear maps has {LARGE:,} weights, from where it is faster; all stay fp32"
        return (
            f"int8: {self.maps} of {self.of} linear maps; on {self.lines} lines the log-probability of a token changes "
            f"by {self.logp:+.4f}, {self.identical} of {self.lines} greedy answers stay the same"
        )


@torch.inference_mode()
def cost(exact: Translate, quantized: Translate, lines: Iterable[str]) -> Cost:
    """The inference forms of one task compared, on those of the lines that are not empty and can be read."""
    ids = [row for row in exact.source.encode_batch([line for line in lines if line.strip()]) if len(row) < exact.limit]
    maps = [part for part in quantized.model.modules() if isinstance(part, nn.Linear | Int8Linear)]
    small = sum(isinstance(part, Int8Linear) for part in maps)
    if not ids:
        return Cost(small, len(maps), 0.0, 0, 0)
    search = Search(max_ratio=exact.search.max_ratio, max_extra=exact.search.max_extra)
    ours, theirs = ([found[0].tokens for found in task.engine.find(task, ids, search)] for task in (exact, quantized))
    most = int(min(exact.limit - 1, max(map(len, ours))))  # one that was cut leaves no room for EOS
    batch = exact.batch([(row, tokens[:most]) for row, tokens in zip(ids, ours, strict=True)])
    before, after = (float(translation_loss(task.model, batch).mean) for task in (exact, quantized))
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    return Cost(small, len(maps), before - after, same, len(ids))
