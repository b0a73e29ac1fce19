"""What each layer of a published encoder knows of words and of texts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from sublayer.data import read_lines
from sublayer.lab.claim import Bench, Measured, Point
from sublayer.lab.minilm import opened, states_of
from sublayer.models.heads import EncoderWithHead
from sublayer.text import PretrainedTokenizer

LONGEST = 256  # word pieces of a text


def probes(seed: int, bench: Bench) -> Measured:
    assert bench.data is not None
    published, model = opened(bench)
    tokenizer = published.tokenizer
    assert tokenizer is not None
    count = bench.choose(20, 150, 250)
    speech = _speech(model, tokenizer, bench.data / "tagging/ud_english_ewt_upos/valid.conll", seed, count)
    meaning = _meaning(model, tokenizer, bench.data / "similarity/stsb_en/valid.tsv", seed, count)
    numbers = {
        "apart": float(meaning.index(max(meaning)) - speech.index(max(speech))),
        "speech lost": max(speech) - speech[-1],
        "meaning gained": meaning[-1] - meaning[1],
    }
    curves: dict[str, list[Point]] = {
        "parts of speech (accuracy)": [*enumerate(speech)],
        "likeness of meaning (Spearman)": [*enumerate(meaning)],
    }
    return Measured(numbers, curves)


def _speech(model: EncoderWithHead, tokenizer: PretrainedTokenizer, path: Path, seed: int, count: int) -> list[float]:
    """By layer: how often a linear map of a word's first piece finds its part of speech."""
    mine = list(_tagged(path))[2 * seed * count : 2 * (seed + 1) * count]
    classes = sorted({tag for sentence in mine for _, tag in sentence})
    texts, places = [], []
    for sentence in mine:
        ids, at = [tokenizer.cls or 0], []
        for word, _ in sentence:
            at.append(len(ids))
            ids += tokenizer.encode(word) or [tokenizer.unk or 0]
        known = [i for i, place in enumerate(at) if place < LONGEST]
        texts.append([*ids[:LONGEST], tokenizer.sep or 0])
        tags = [classes.index(sentence[i][1]) for i in known]
        places.append((torch.tensor([at[i] for i in known]), torch.tensor(tags)))
    layers = zip(*states_of(model, texts), strict=True)
    return [_probe(states, places, len(classes)) for states in layers]


def _meaning(model: EncoderWithHead, tokenizer: PretrainedTokenizer, path: Path, seed: int, count: int) -> list[float]:
    """By layer: how well the cosine of mean states agrees with human judgement."""
    rows = [line.split("\t") for line in read_lines(path)][seed * count : (seed + 1) * count]
    judged = torch.tensor([float(row[2]) for row in rows])
    sides = []
    for side in (0, 1):
        states = states_of(model, [tokenizer.inputs(row[side]).ids[:LONGEST] for row in rows])
        sides.append([torch.stack([x.mean(0) for x in layer]) for layer in zip(*states, strict=True)])
    return [_spearman(F.cosine_similarity(x, y), judged) for x, y in zip(*sides, strict=True)]


def _tagged(path: Path) -> Iterator[list[tuple[str, str]]]:
    sentence: list[tuple[str, str]] = []
    for line in [*read_lines(path), ""]:
        if line:
            word, tag = line.split("\t")
            sentence.append((word, tag))
        elif sentence:
            yield sentence
            sentence = []


def _probe(states: Sequence[Tensor], places: Sequence[tuple[Tensor, Tensor]], classes: int) -> float:
    """Accuracy of a linear map fitted by ridge regression on the first half of the sentences, on the second."""
    half = len(states) // 2
    halves = []
    for part in (slice(None, half), slice(half, None)):
        x = torch.cat([state[at] for state, (at, _) in zip(states[part], places[part], strict=True)])
        halves.append((F.pad(x, (0, 1), value=1.0), torch.cat([tags for _, tags in places[part]])))
    (x, tags), (tried, asked) = halves
    gram = x.T @ x + 1.0 * torch.eye(x.size(1))
    weights = torch.linalg.solve(gram, x.T @ F.one_hot(tags, classes).float())
    return float(((tried @ weights).argmax(-1) == asked).float().mean())


def _spearman(x: Tensor, y: Tensor) -> float:
    ranks = torch.stack([x.argsort().argsort(), y.argsort().argsort()]).double()
    return float(torch.corrcoef(ranks)[0, 1])
