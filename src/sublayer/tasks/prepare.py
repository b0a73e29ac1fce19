"""All that comes before the first update."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from sublayer.data import Pair, Pairs, read_pairs
from sublayer.errors import ConfigError, DataError
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks.recipe import Recipe, Side, Train
from sublayer.tasks.sizes import fill_in
from sublayer.tasks.translate import Translate
from sublayer.text import Tokenizer, train_tokenizer
from sublayer.train.report import Listener


@dataclass(frozen=True)
class Prepared:
    """A whole recipe, its data, and a task that has learned nothing yet. `examples` are the ids of `pairs`."""

    recipe: Recipe
    task: Translate
    pairs: Pairs
    examples: list[tuple[list[int], list[int]]]
    valid: Pairs | None


def prepare(recipe: Recipe, listener: Listener) -> Prepared:
    """Read the data, fill in what the recipe leaves open, learn the vocabularies, build the model."""
    pairs, valid = read(recipe, listener)
    choices = fill_in(recipe, pairs.items)
    for line in choices.told:
        listener.message(line)
    train, model = choices.recipe.train, choices.recipe.model
    assert train is not None and model is not None
    source, target = _tokenizers(choices.recipe, pairs.items)
    config = _sized(model, source, target)
    _seed(train.seed)
    built = build(config)
    assert isinstance(built, EncoderDecoder)
    task = Translate(built.to(device_of(train)), config, source, target, recipe.search)
    return encoded(choices.recipe.model_copy(update={"model": config}), task, pairs, valid)


def encoded(recipe: Recipe, task: Translate, pairs: Pairs, valid: Pairs | None) -> Prepared:
    """DataError where a line of either file is longer than the model can hold."""
    examples, *_ = [_ids(task, file) for file in (pairs, valid) if file is not None]
    return Prepared(recipe, task, pairs, examples, valid)


def _ids(task: Translate, pairs: Pairs) -> list[tuple[list[int], list[int]]]:
    try:
        return task.encode_pairs(pairs.items)
    except DataError as error:
        raise DataError(f"{pairs.name}: {error}") from None


def read(recipe: Recipe, listener: Listener) -> tuple[Pairs, Pairs | None]:
    """The pairs of both files; what was left out is told."""
    if recipe.data.train is None:
        raise ConfigError("data.train is not set: name a file of pairs, in the recipe or with --train.")
    both = [
        None if files is None else read_pairs(_files(files), columns=recipe.data.columns, skip_bad=recipe.data.skip_bad)
        for files in (recipe.data.train, recipe.data.valid)
    ]
    for pairs in both:
        if pairs is not None:
            listener.message(pairs.summary())
            for line, reason in pairs.skipped[:10]:
                listener.message(f"  line {line}: {reason}")
    train, valid = both
    if valid is None:
        listener.message("data.valid is not set: the last weights are kept, not the best.")
    assert train is not None
    return train, valid


def _files(files: list[str]) -> Path | tuple[Path, Path]:
    return Path(files[0]) if len(files) == 1 else (Path(files[0]), Path(files[1]))


def _tokenizers(recipe: Recipe, pairs: Sequence[Pair]) -> tuple[Tokenizer, Tokenizer]:
    sources, targets = [p.source for p in pairs], [p.target for p in pairs]
    if recipe.text.shared:
        both = _tokenizer(recipe.text.source, sources + targets)
        return both, both
    return _tokenizer(recipe.text.source, sources), _tokenizer(recipe.text.target, targets)


def _tokenizer(side: Side, texts: Sequence[str]) -> Tokenizer:
    return train_tokenizer(
        side.kind,
        texts,
        vocab_size=side.vocab_size,
        min_count=side.min_count,
        separator=side.separator,
        normalization=side.normalization,
    )


def _sized(config: ModelConfig, source: Tokenizer, target: Tokenizer) -> ModelConfig:
    fields = config.model_dump() | {
        "source_vocab": source.vocab_size,
        "target_vocab": target.vocab_size,
        "first_feature": source.first_feature,
    }
    return ModelConfig.read(fields)


def _seed(seed: int) -> None:
    """All three generators: a part of your own may draw from any of them."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)


def device_of(train: Train) -> torch.device:
    """ConfigError where this machine has no such device."""
    name = train.device if train.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (AssertionError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"train.device {name!r} is not there: {reason}. Write auto, or cpu.") from None
