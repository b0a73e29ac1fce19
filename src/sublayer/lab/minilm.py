"""Inside a published encoder: all-MiniLM-L6-v2, six layers of the BERT kind."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from sublayer.inspect import attention_maps
from sublayer.interop.pretrained import Pretrained, from_pretrained
from sublayer.lab.claim import Bench, Measured
from sublayer.lab.heads import patterns
from sublayer.models.heads import EncoderWithHead
from sublayer.nn import Embeddings, Encoder, Mask, SublayerConnection
from sublayer.tasks.recipe_file import read_yaml

PACK = 32  # texts in a row
HEADS = ("itself", "the one before", "5 and more away", "the one after", "first and last token")


@cache
def _published(folder: Path) -> Pretrained:
    return from_pretrained(folder)


def opened(bench: Bench) -> tuple[Pretrained, EncoderWithHead]:
    assert bench.minilm is not None
    published = _published(bench.minilm)
    assert isinstance(published.model, EncoderWithHead)
    return published, published.model


@torch.no_grad()
def states_of(model: EncoderWithHead, texts: Sequence[Sequence[int]]) -> Iterator[list[Tensor]]:
    """Of each text its states (T, D) from the embeddings up through each layer."""
    embed, encoder = model.body.embed, model.body.encoder
    assert isinstance(embed, Embeddings) and isinstance(encoder, Encoder)
    for start in range(0, len(texts), PACK):
        packed = texts[start : start + PACK]
        lengths = list(map(len, packed))
        ids, mask = torch.tensor([[i for text in packed for i in text]]), Mask.packed(lengths)
        x = embed(ids, index=mask.positions(ids.size(1)))
        layers = [x[0].split(lengths)]
        for layer in encoder.layers:
            x = layer(x, mask)
            layers.append(x[0].split(lengths))
        yield from ([states[number] for states in layers] for number in range(len(packed)))


def _senses(seed: int) -> dict[str, list[list[str]]]:
    """The two words of this seed; there are words for ten seeds, then the first ones come again."""
    words = list(read_yaml(Path(__file__).with_name("senses.yaml")).items())
    first = 2 * seed % len(words)
    return dict(words[first : first + 2])


def word_senses(seed: int, bench: Bench) -> Measured:
    published, model = opened(bench)
    tokenizer = published.tokenizer
    assert tokenizer is not None
    gaps = []
    for word, senses in _senses(seed).items():
        (place,) = tokenizer.encode(word)
        texts = [tokenizer.inputs(text).ids for sense in senses for text in sense]
        layers = zip(*states_of(model, texts), strict=True)
        vectors = [torch.stack([x[ids.index(place)] for x, ids in zip(at, texts, strict=True)]) for at in layers]
        gaps.append([_gap(x) for x in vectors])
    by_layer = torch.tensor(gaps)
    mean = by_layer.mean(0).tolist()
    numbers = {"parted": mean[-1] - mean[0], "worst word": float(by_layer[:, -1].min()), "first": mean[1] - mean[0]}
    rises = sum(later > before for before, later in zip(mean, mean[1:], strict=False))
    return Measured(numbers | {"rises": rises / (len(mean) - 1)}, {"": [(i, gap) for i, gap in enumerate(mean)]})


def _gap(vectors: Tensor) -> float:
    """Mean cosine within a sense minus that between; the first half of the rows is one sense."""
    units = F.normalize(vectors, dim=-1)
    alike, half = units @ units.T, len(vectors) // 2
    inside = torch.stack(
        [part[~torch.eye(half, dtype=torch.bool)] for part in (alike[:half, :half], alike[half:, half:])]
    )
    return float(inside.mean() - alike[:half, half:].mean())


@torch.no_grad()
def head_patterns(seed: int, bench: Bench) -> Measured:
    published, model = opened(bench)
    assert published.tokenizer is not None
    texts = [text for senses in _senses(seed).values() for sense in senses for text in sense]
    found = []
    for text in texts:
        ids = torch.tensor([published.tokenizer.inputs(text).ids])
        with attention_maps(model) as maps:
            model.body(ids)
        found.append(torch.stack([_shares(weights[0]) for weights in maps.values()]))
    shares = torch.stack(found).mean(0)  # (layers, H, patterns)
    top = shares.amax(1)
    curves = {name: [(i, value) for i, value in enumerate(top[:, n].tolist(), 1)] for n, name in enumerate(HEADS)}
    numbers = {name: float(top[:, n].max()) for n, name in enumerate(HEADS)}
    return Measured(numbers, curves)


def _shares(weights: Tensor) -> Tensor:
    """(H, T, T) -> (H, 5): the share of each of HEADS. Specials at both ends are neither near nor far."""
    inner = weights[:, 1:-1, 1:-1]
    after = inner.diagonal(1, -2, -1).mean(-1)
    ends = weights[:, 1:-1][..., [0, -1]].sum(-1).mean(-1)
    return torch.cat((patterns(inner), after[:, None], ends[:, None]), -1)


def bert_read_both_ways(seed: int, bench: Bench) -> Measured:
    """Sentences about one sense of a word should be nearer to each other than to all others."""
    published, model = opened(bench)
    assert published.tokenizer is not None
    groups = [sense for senses in (_senses(seed) | _senses(seed + 1)).values() for sense in senses]
    texts = [published.tokenizer.inputs(text).ids for sense in groups for text in sense]
    of = torch.arange(len(groups)).repeat_interleave(len(groups[0]))
    pairs = ~torch.eye(len(texts), dtype=torch.bool)
    same = (of[:, None] == of)[pairs]
    right = {}
    steps = [part for part in model.modules() if isinstance(part, SublayerConnection)]
    for name, first in (("post-norm", False), ("pre-norm", True)):
        for step in steps:
            step.norm_first = first
        try:
            units = F.normalize(torch.stack([x[-1].mean(0) for x in states_of(model, texts)]), dim=-1)
        finally:
            for step in steps:
                step.norm_first = False
        alike = (units @ units.T)[pairs]
        right[name] = float((alike[same][:, None] > alike[~same]).float().mean())
    return Measured({"pre over post": right["pre-norm"] - right["post-norm"]} | right, {"": [*right.items()]})
