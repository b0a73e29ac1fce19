"""Teacher forcing: the model reads the right target and says, at each of its tokens, what comes next."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from sublayer.data.batch import PackedPairs, PairBatch
from sublayer.data.mixture import Joined
from sublayer.data.stored import StoredIds
from sublayer.evaluate import Score, perplexity
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import Mask
from sublayer.train.loss import Loss, chunked_cross_entropy, cross_entropy


def sizes(examples: Sequence[Any]) -> np.ndarray:
    """Lengths (N, 2) of both sides with EOS."""
    if isinstance(examples, Joined):
        return np.concatenate([sizes(part) for part in examples.parts])
    if isinstance(examples, StoredIds):
        return examples.lengths() + 1
    return np.array([(len(source) + 1, len(target) + 1) for source, target in examples], np.int32).reshape(-1, 2)


def translation_loss(
    model: EncoderDecoder, batch: PairBatch | PackedPairs, smoothing: float = 0.0, chunk: int = 0
) -> Loss:
    """What a batch costs, over its real target tokens, all scored at once or a chunk at a time."""
    return output_loss(model.project, target_states(model, batch), batch.labels, smoothing, chunk)


def output_loss(project: nn.Module, states: Tensor, targets: Tensor, smoothing: float, chunk: int) -> Loss:
    """Of states (N, D) and the tokens (N,) that they should say."""
    if chunk:
        return chunked_cross_entropy(project, states, targets, smoothing, chunk=chunk)
    return cross_entropy(project(states), targets, smoothing)


def logits(model: EncoderDecoder, batch: PairBatch | PackedPairs) -> Tensor:
    """(N, V) for the N real target positions: padding never reaches the output map."""
    return model.project(target_states(model, batch))


def logits_and_labels(model: EncoderDecoder, batch: PairBatch | PackedPairs) -> tuple[Tensor, Tensor]:
    """(N, V) for the N real target positions, and the tokens (N,) that are right there."""
    return logits(model, batch), batch.labels


def target_states(model: EncoderDecoder, batch: PairBatch | PackedPairs) -> Tensor:
    """(N, D): what the output map reads."""
    if isinstance(batch, PackedPairs):
        device = batch.source.device
        source, target = Mask.packed(batch.source_lengths, device), Mask.packed(batch.target_lengths, device)
        memory = model.encode(batch.source, source)
        return model.decode(batch.target_in, memory, target, source.seen_from(target))[0]
    return states(model, batch, batch.target_in)[batch.target_keep]


def states(model: EncoderDecoder, batch: PairBatch, target: Tensor) -> Tensor:
    """(B, T, D) of the decoder that reads these targets (B, T), padding on the right."""
    mask = None if batch.source_keep is None else Mask.padding(batch.source_keep)
    return model.decode(target, model.encode(batch.source, mask), None, mask)


def likelihood(targets: Iterable[tuple[float, int]], kind: str) -> list[Score]:
    """Loss and perplexity of targets, each with its log-probability over so many tokens, which are of this kind."""
    total, count = 0.0, 0
    for logp, tokens in targets:
        total, count = total - logp, count + tokens
    return [
        Score(name, value, count, "tokens", False, f"{name}|{kind} tokens with EOS")
        for name, value in (("loss", total / count), ("perplexity", perplexity(total, count)))
    ]
