"""Real data for small models: letters, then phonemes, from the dictionary that comes with the recipes."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor, nn

from sublayer.data import read_pairs
from sublayer.errors import ConfigError
from sublayer.lab.claim import Bench
from sublayer.lab.learning import IGNORED, Batch, Learned, Task, learn
from sublayer.lab.small import reader
from sublayer.nn import Mask

LONGEST = 20  # letters and phonemes of a word together


def _dictionary() -> Path:
    """Beside the package in an installation, at the top of a clone."""
    for folder in (Path(str(files("sublayer"))) / "recipes", Path(__file__).parents[3] / "recipes"):
        if (found := folder / "cmudict" / "valid.tsv.gz").exists():
            return found
    raise ConfigError("The dictionary that comes with sublayer is missing: install it anew.")


@cache
def words() -> tuple[Tensor, Tensor, int]:
    """Rows of 2,000 and more words: ids (N, T), 0 for padding; what follows each, asked of phonemes alone; vocabulary.

    A row is letters, a break, phonemes, an end, so that a language model that reads it learns to pronounce.
    """
    pairs = [(pair.source, pair.target.split()) for pair in read_pairs(_dictionary()).items]
    pairs = [(word, sounds) for word, sounds in pairs if len(word) + len(sounds) <= LONGEST - 2]
    letters, sounds = ({name for pair in pairs for name in pair[side]} for side in (0, 1))
    names = sorted(letters) + sorted(sounds)
    number = {name: i for i, name in enumerate(names, 3)}  # letters are small and phonemes capital
    ids = torch.zeros(len(pairs), LONGEST, dtype=torch.long)
    classes = torch.full_like(ids, IGNORED)
    for row, (word, spoken) in enumerate(pairs):
        spelled = [number[letter] for letter in word] + [1] + [number[sound] for sound in spoken] + [2]
        ids[row, : len(spelled)] = torch.tensor(spelled)
        classes[row, len(word) : len(spelled) - 1] = ids[row, len(word) + 1 : len(spelled)]
    return ids, classes, len(names) + 3


def pronounce(*, held_out: bool = False) -> Task:
    """The first 512 words are never trained on. Causal."""
    ids, classes, _ = words()

    def task(rows: int, generator: Generator) -> Batch:
        if held_out:
            return Batch(ids[:512], classes[:512], Mask(causal=True))
        chosen = torch.randint(512, len(ids), (rows,), generator=generator)
        return Batch(ids[chosen], classes[chosen], Mask(causal=True))

    return task


def learn_words(
    seed: int, bench: Bench, *, pace: float = 1.0, d_model: int = 32, layers: int = 2, **parts: Any
) -> Learned:
    """What a causal model of these parts has learned of pronunciation; its loss is in nats a phoneme.

    pace  multiplies the number of steps
    """
    vocab = words()[2]
    steps = round(pace * bench.choose(6, 200, 1000))
    width = bench.choose(min(d_model, 16), d_model, 2 * d_model)

    def make() -> nn.Module:
        return reader(vocab, vocab, width, layers, **parts)

    return learn(seed, make, pronounce(), steps=steps, tried=pronounce(held_out=True))
