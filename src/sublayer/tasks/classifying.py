"""How classification is learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sublayer.data import Corpus
from sublayer.data.rows import Row, read_rows
from sublayer.data.texts import TextBatch
from sublayer.errors import CheckpointError, DataError
from sublayer.models.config import ModelConfig
from sublayer.models.heads import Classes, EncoderWithHead
from sublayer.tasks.base import Job
from sublayer.tasks.classify import Classify, Example, LabelSet
from sublayer.tasks.folder import write_sample
from sublayer.tasks.label_recipes import ClassifyRecipe, LabelTrain
from sublayer.tasks.sections import Published
from sublayer.tasks.sizes import Choices, filled
from sublayer.tasks.teachers import taught
from sublayer.tasks.text_sizes import few_texts, text_model, tuned_texts, words_kind
from sublayer.tasks.texts import Drawn, empty, start, vocabulary_of
from sublayer.text import load_vocabulary
from sublayer.train.loss import Loss

Batch = tuple[TextBatch, list[list[int]]]


class Classifying(Job):
    architecture = "encoder"
    wanted = "name a file of texts and labels"

    def read(self, files: list[str], recipe: ClassifyRecipe, *, skip_bad: bool) -> Corpus[Row]:
        blank = 1 if recipe.labels.several else 0
        return read_rows(files[0], (2, 3), columns=recipe.data.columns, blank=blank, skip_bad=skip_bad)

    def fill_in(self, recipe: ClassifyRecipe, items: Sequence[Row]) -> Choices:
        told: list[str] = []
        texts = [cell for row in items for cell in row.cells[:-1]]
        if isinstance(recipe.model, Published):
            settings = tuned_texts(len(items), recipe.train)
        else:
            recipe = recipe.model_copy(update={"text": words_kind(recipe.text, texts, told)})
            settings = few_texts(len(items), recipe.train)
        return filled(recipe, LabelTrain, text_model(len(items)), settings, told, f"{len(items):,} texts")

    def fresh(self, recipe: ClassifyRecipe, items: Sequence[Row]) -> Classify:
        assert recipe.train is not None and recipe.model is not None
        several, separator = recipe.labels.several, recipe.labels.separator
        width = len(items[0].cells)
        reader = LabelSet((), width - 1, several, separator)
        names = sorted({label for row in items for label in reader.read(row.cells[-1])})
        if len(names) < (1 if several else 2):
            raise DataError(f"There is nothing to tell apart: the labels are {names}. Needed: two different ones.")
        texts = [cell for row in items for cell in row.cells[:-1]]
        body, config, words = start(recipe.model, recipe.train, partial(vocabulary_of, recipe.text, texts))
        head = _head(config, len(names), recipe.head.pool, recipe.head.activation)
        labels = LabelSet(tuple(names), width - 1, several, separator)
        return Classify(EncoderWithHead(body, head), config, words, labels, recipe.head.pool, recipe.head.activation)

    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> Classify:
        try:
            held = about["labels"]
            labels = LabelSet(**held | {"names": tuple(held["names"])})
            pool, activation, transform = about["pool"], about.get("activation"), about.get("transform")
            options = {"pool": pool, "activation": activation, "transform": transform, "dropout": config.dropout}
            model = empty(config, "classes", classes=len(labels.names), **options)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{folder / 'task.json'} does not say which labels there are: {error!r}.") from None
        words = load_vocabulary(folder / "tokenizer.json")
        return Classify(model, config, words, labels, pool, activation, transform)

    def encode(self, task: Classify, items: Sequence[Row]) -> list[Example]:
        return task.encode_rows(items)

    def batches(self, task: Classify, examples: Sequence[Example], train: LabelTrain) -> Drawn:
        def make(rows: list[int]) -> Batch:
            chosen = [examples[row] for row in rows]
            return task.batch([text for text, _ in chosen]), [labels for _, labels in chosen]

        return Drawn([len(text) for text, _ in examples], make, train)

    def loss(self, task: Classify, train: LabelTrain) -> Callable[[Any, Any], Loss]:
        def loss(model: EncoderWithHead, batch: Batch) -> Loss:
            texts, labels = batch
            return task.cost(model(*texts.inputs), labels, train.label_smoothing)

        def scores(model: EncoderWithHead, batch: Batch) -> tuple[Tensor, Tensor]:
            texts, labels = batch
            return model(*texts.inputs), torch.tensor([one for (one,) in labels], device=task.device)

        return taught(loss, scores, task, train, train.label_smoothing)

    def validate(self, task: Classify, items: Sequence[Row], recipe: Any, out: Path) -> dict[str, float]:
        """samples/valid.tsv: text, answer, label."""
        said = task.predict(row.cells[:-1] for row in items)
        answers = (task.labels.separator.join(found.labels) for found in said)
        write_sample(out, ([*row.cells[:-1], label, row.cells[-1]] for row, label in zip(items, answers, strict=True)))
        return {score.name: score.value for score in task.evaluate(items, ["loss", *recipe.train.validate_metrics])}


def _head(config: ModelConfig, classes: int, pool: str, activation: str | None) -> Classes:
    return Classes(config.d_model, classes=classes, pool=pool, activation=activation, dropout=config.dropout)
