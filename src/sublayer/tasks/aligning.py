"""What each word of a target comes from, read off the cross-attention of a model that is given the target."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from sublayer.data.batch import PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.errors import ConfigError
from sublayer.inspect import attention_maps
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks.base import Alignment
from sublayer.tasks.teaching import states
from sublayer.text import Words

BATCH_TOKENS = 4096


class Reader(Protocol):
    """What of a task is needed here."""

    model: EncoderDecoder

    def batch(self, examples: Sequence[tuple[Sequence[int], Sequence[int]]]) -> PairBatch: ...


@torch.inference_mode()
def align(task: Reader, pairs: Sequence[tuple[Words, Words]], layer: int | None = None) -> list[Alignment]:
    """The source word that each target word looks at most, in the mean over the heads of one decoder layer.

    layer  counted from 0, or from the end with -1 as the last; by default the last but one, which Garg et al. 2019,
           section 4.1, found to align best
    """
    attention = _cross_attention(task.model, layer)
    found = {i: Alignment(source.texts, target.texts, ()) for i, (source, target) in enumerate(pairs)}
    filled = [i for i, (source, target) in enumerate(pairs) if source.ids and target.ids]
    lengths = [(len(pairs[i][0].ids) + 1, len(pairs[i][1].ids)) for i in filled]
    task.model.eval()
    for rows in TokenBatches(lengths, BATCH_TOKENS).in_order():
        batch = task.batch([(pairs[filled[row]][0].ids, pairs[filled[row]][1].ids) for row in rows])
        with attention_maps(attention) as maps:
            states(task.model, batch, batch.target[:, :-2])  # query t writes token t, and none is asked for EOS
        for row, weights in zip(rows, maps[""].mean(1), strict=True):
            source, target = pairs[filled[row]]
            found[filled[row]] = link(weights, source, target)
    return [found[i] for i in range(len(pairs))]


def link(weights: Tensor, source: Words, target: Words) -> Alignment:
    """Weights (T, S) of tokens, summed over those of each word; EOS and padding, behind them, are no part of any.

    Of source words with equal weights the first is taken. A word that looks at no word has no link.
    """
    between = weights[: len(target.ids), : len(source.ids)].double()
    table = _members(target, between).T @ between @ _members(source, between)
    links = []
    for t, row in enumerate(table.tolist()):
        s = max(range(len(row)), key=row.__getitem__, default=0)
        if row and row[s] > 0:
            links.append((s, t))
    return Alignment(source.texts, target.texts, tuple(links))


def _members(words: Words, like: Tensor) -> Tensor:
    """(tokens, words): 1 where the token belongs to the word."""
    of = torch.tensor(words.of, device=like.device)
    return (of[:, None] == torch.arange(len(words.texts), device=like.device)).to(like.dtype)


def _cross_attention(model: EncoderDecoder, layer: int | None) -> nn.Module:
    layers = list(model.decoder.layers)
    at = max(len(layers) - 2, 0) if layer is None else layer
    if not -len(layers) <= at < len(layers):
        raise ConfigError(
            f"layer={layer}: the decoder has {len(layers)} layers. Write 0 to {len(layers) - 1}, or -1 for the last."
        )
    attention = layers[at].cross_attn
    assert isinstance(attention, nn.Module)
    return attention
