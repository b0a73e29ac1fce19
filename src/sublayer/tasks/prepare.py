"""All that comes before the first update."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sublayer.data import Corpus
from sublayer.errors import ConfigError, DataError
from sublayer.models.build import Model, build
from sublayer.models.config import ModelConfig
from sublayer.tasks.base import Job, Task
from sublayer.tasks.jobs import job_of
from sublayer.tasks.long_texts import told_long
from sublayer.tasks.sections import AnyRecipe, Published, Side, Train
from sublayer.text import Tokenizer, train_tokenizer
from sublayer.train.report import Listener


@dataclass(frozen=True)
class Prepared:
    """A whole recipe, its data, and a task that has learned nothing yet. `examples` are the ids of `items`."""

    recipe: AnyRecipe
    job: Job
    task: Task
    items: Corpus[Any]
    examples: Sequence[Any]
    valid: Corpus[Any] | None


def prepare(recipe: AnyRecipe, listener: Listener) -> Prepared:
    """Read the data, fill in what the recipe leaves open, learn the vocabularies, build the model."""
    items, valid = read(recipe, listener)
    job = job_of(recipe.task)
    choices = job.fill_in(recipe, items.items)
    for line in choices.told:
        listener.message(line)
    train = choices.recipe.train
    assert train is not None
    task = job.fresh(choices.recipe, items.items)
    task.model.to(device_of(train))
    model = choices.recipe.model
    whole = {"model": model if isinstance(model, Published) else task.config}
    return encoded(choices.recipe.model_copy(update=whole), task, items, valid, listener)


def encoded(
    recipe: AnyRecipe, task: Task, items: Corpus[Any], valid: Corpus[Any] | None, listener: Listener
) -> Prepared:
    """DataError where a line of either file is longer than the model can hold; those that are read in parts, or cut as
    the recipe asks, are told."""
    job = job_of(recipe.task)
    examples, *_ = [_ids(job, task, file) for file in (items, valid) if file is not None]
    for file in (items, valid):
        for line in [] if file is None else told_long(file.name, task.long(file.items)):
            listener.message(line)
    return Prepared(recipe, job, task, items, examples, valid)


def _ids(job: Job, task: Task, items: Corpus[Any]) -> Sequence[Any]:
    try:
        return job.encode(task, items.items)
    except DataError as error:
        raise DataError(f"{items.name}: {error}") from None


def read(recipe: AnyRecipe, listener: Listener) -> tuple[Corpus[Any], Corpus[Any] | None]:
    """The examples of both files; what was left out is told."""
    if recipe.data.train is None:
        raise ConfigError(f"data.train is not set: {job_of(recipe.task).wanted}, in the recipe or with --train.")
    job = job_of(recipe.task)
    train, valid = job.read_train(recipe), None
    if recipe.data.valid is not None:
        valid = job.read(recipe.data.valid, recipe, skip_bad=recipe.data.skip_bad)
    for corpus in (train, valid):
        if corpus is not None:
            listener.message(corpus.summary())
            for line, reason in corpus.skipped[:10]:
                listener.message(f"  line {line}: {reason}")
    if valid is None:
        listener.message("data.valid is not set: the last weights are kept, not the best.")
    return train, valid


def tokenizer_of(side: Side, texts: Iterable[str]) -> Tokenizer:
    return train_tokenizer(
        side.kind,
        texts,
        vocab_size=side.vocab_size,
        min_count=side.min_count,
        separator=side.separator,
        normalization=side.normalization,
    )


def seeded(config: ModelConfig, train: Train) -> Model:
    """A model with fresh weights."""
    seed(train)
    return build(config)


def seed(train: Train) -> None:
    """All three generators are set: a part of your own may draw from any of them."""
    torch.manual_seed(train.seed)
    random.seed(train.seed)
    np.random.seed(train.seed % 2**32)


def device_of(train: Train) -> torch.device:
    """ConfigError where this machine has no such device."""
    name = train.device if train.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (AssertionError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"train.device {name!r} is not there: {reason}. Write auto, or cpu.") from None
