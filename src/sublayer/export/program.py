"""A model as three programs of torch.export that decode together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from sublayer.export.graphs import GraphEngine, Graphs
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import DecoderCache, Fixed, Growing, KeyValue, LayerCache, Mask
from sublayer.tasks.translate import Translate

if TYPE_CHECKING:
    from torch.export import ExportedProgram


class Encode(nn.Module):
    """Source ids (B, S) and lengths (B,) -> what each decoder layer's cross-attention reads, every (B, G, S, d)."""

    def __init__(self, model: EncoderDecoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, lengths: Tensor) -> list[Tensor]:
        mask = Mask.padding(torch.arange(source.size(1), device=source.device) < lengths[:, None])
        memory = mask.clean(self.model.encode(source, mask))
        layers: Any = self.model.decoder.layers
        return [x for layer in layers for x in layer.cross_attn.read(memory, memory)]


class Step(nn.Module):
    """New tokens (B, n), source lengths (B,), what `Encode` gave and, but for the first step, keys and values of the
    tokens before -> log-probabilities of the next token (B, V), and the keys and values to hand over."""

    def __init__(self, model: EncoderDecoder) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, tokens: Tensor, lengths: Tensor, cross: list[Tensor], past: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        cache = DecoderCache(0)
        written = []
        for i in range(0, len(cross), 2):
            grown, fixed = Growing(), Fixed()
            grown.kv = KeyValue(*past[i : i + 2]) if past else None
            fixed.kv = KeyValue(*cross[i : i + 2])
            written.append(grown)
            cache.layers.append(LayerCache(grown, fixed))
        hidden = torch.arange(cross[0].size(2), device=tokens.device) >= lengths[:, None]
        bias = torch.zeros_like(hidden, dtype=cross[0].dtype).masked_fill(hidden, -torch.inf)
        x = self.model.decode(tokens, None, None, Mask(bias=bias[:, None, None]), cache)
        logp = torch.log_softmax(self.model.project(x[:, -1]).float(), -1)
        return logp, [x for grown in written if grown.kv is not None for x in grown.kv]


def programs(model: EncoderDecoder) -> tuple[ExportedProgram, ExportedProgram, ExportedProgram]:
    """`Encode`, `Step` as the first and `Step` as a later one, batch and all lengths free."""
    from torch.export import Dim  # takes long to import

    B, S, n, t = Dim.DYNAMIC, Dim.DYNAMIC, Dim.DYNAMIC, Dim.DYNAMIC
    source, lengths = torch.zeros(3, 5, dtype=torch.long), torch.tensor([5, 4, 3])
    tokens = torch.zeros(3, 2, dtype=torch.long)
    encode, step = Encode(model).eval(), Step(model).eval()
    with torch.no_grad():
        cross = encode(source, lengths)
        past = step(tokens, lengths, cross, [])[1]
        cross_free = [{0: B, 2: S}] * len(cross)
        return (
            torch.export.export(encode, (source, lengths), dynamic_shapes=({0: B, 1: S}, {0: B}), strict=False),
            torch.export.export(
                step, (tokens, lengths, cross, []), dynamic_shapes=({0: B, 1: n}, {0: B}, cross_free, []), strict=False
            ),
            torch.export.export(
                step,
                (tokens, lengths, cross, past),
                dynamic_shapes=({0: B, 1: n}, {0: B}, cross_free, [{0: B, 2: t}] * len(past)),
                strict=False,
            ),
        )


def export(task: Translate, folder: Path) -> None:
    """Write encode.pt2, begin.pt2 and go_on.pt2, as torch.export saves programs."""
    for name, program in zip(Graphs._fields, programs(task.model), strict=True):
        torch.export.save(program, folder / f"{name}.pt2")


def engine(folder: Path) -> GraphEngine:
    """torch over what `export` wrote: to compare it, and as an example of running it."""
    encode, begin, go_on = (torch.export.load(folder / f"{name}.pt2").module() for name in Graphs._fields)

    def first(inputs: list[Tensor]) -> list[Tensor]:
        tokens, lengths, *cross = inputs
        logp, past = begin(tokens, lengths, cross, [])
        return [logp, *past]

    def later(inputs: list[Tensor]) -> list[Tensor]:
        tokens, lengths, *held = inputs
        half = len(held) // 2
        logp, past = go_on(tokens, lengths, held[:half], held[half:])
        return [logp, *past]

    return GraphEngine("torch", Graphs(lambda inputs: list(encode(*inputs)), first, later))
