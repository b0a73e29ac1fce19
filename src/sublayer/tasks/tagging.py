"""How tagging is learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sublayer.data import Corpus
from sublayer.data.conll import Sentence, read_conll
from sublayer.data.texts import TextBatch
from sublayer.errors import CheckpointError, DataError
from sublayer.evaluate import is_bio
from sublayer.models.config import ModelConfig
from sublayer.models.heads import EncoderWithHead, TokenClasses
from sublayer.tasks.base import Job
from sublayer.tasks.folder import write_sample
from sublayer.tasks.label_recipes import TagRecipe, TagTrain
from sublayer.tasks.prepare import tokenizer_of
from sublayer.tasks.sections import Published, Words
from sublayer.tasks.sizes import Choices, filled
from sublayer.tasks.tag import Tag, Window
from sublayer.tasks.teachers import taught
from sublayer.tasks.text_sizes import few_texts, text_model, tuned_texts
from sublayer.tasks.texts import Drawn, Vocabulary, empty, start
from sublayer.text import NGrams, load_vocabulary
from sublayer.train.loss import Loss, cross_entropy

Example = tuple[Window, list[int]]
Batch = tuple[TextBatch, Tensor, Tensor]


class Tagging(Job):
    architecture = "encoder"
    wanted = "name a file of words and tags"

    def read(self, files: list[str], recipe: TagRecipe, *, skip_bad: bool) -> Corpus[Sentence]:
        return read_conll(files[0], columns=recipe.data.columns, skip_bad=skip_bad)

    def fill_in(self, recipe: TagRecipe, items: Sequence[Sentence]) -> Choices:
        told: list[str] = []
        text = recipe.text
        if isinstance(recipe.model, Published):
            settings = tuned_texts(len(items), recipe.train)
        else:
            settings = few_texts(len(items), recipe.train) | {"batch_tokens": 1024}
            if text.kind == "auto":
                rare = {} if "min_count" in text.model_fields_set else {"min_count": 2}  # unknown words are met
                recipe = recipe.model_copy(update={"text": text.model_copy(update={"kind": "ngrams"} | rare)})
                told.append("text: ngrams, a token a word")
        if is_bio(sorted({tag for item in items for tag in item.tags})):
            settings |= {"validate_metrics": ["span_f1", "accuracy"], "metric": "span_f1"}
        given = {} if recipe.train is None else recipe.train.model_dump(exclude_unset=True)
        if "validate_metrics" in given and "metric" not in given:
            settings["metric"] = (*given["validate_metrics"], "loss")[0]
        return filled(recipe, TagTrain, text_model(len(items)), settings, told, f"{len(items):,} sentences")

    def fresh(self, recipe: TagRecipe, items: Sequence[Sentence]) -> Tag:
        assert recipe.train is not None and recipe.model is not None
        tags = sorted({tag for item in items for tag in item.tags})
        if len(tags) < 2:
            raise DataError(f"There is nothing to tell apart: the tags are {tags}. Needed: two different ones.")
        body, config, words = start(recipe.model, recipe.train, partial(_vocabulary, recipe.text, items))
        return Tag(
            EncoderWithHead(body, TokenClasses(config.d_model, classes=len(tags), dropout=config.dropout)),
            config,
            words,
            tags,
        )

    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> Tag:
        tags = about.get("tags")
        if not isinstance(tags, list) or len(tags) < 2:
            raise CheckpointError(f"{folder / 'task.json'} does not say which tags there are: {tags!r}.")
        transform = about.get("transform")
        model = empty(config, "token-classes", classes=len(tags), transform=transform, dropout=config.dropout)
        return Tag(model, config, load_vocabulary(folder / "tokenizer.json"), tags, transform)

    def encode(self, task: Tag, items: Sequence[Sentence]) -> list[Example]:
        known = task.known(items)
        return [
            (window, [known[item.tags[i]] for i in window.words]) for item in items for window in _windows(task, item)
        ]

    def batches(self, task: Tag, examples: Sequence[Example], train: TagTrain) -> Drawn:
        def make(rows: list[int]) -> Batch:
            chosen = [examples[row] for row in rows]
            places, at = [], 0
            for window, _ in chosen:
                places += [at + place for place in window.places]
                at += len(window.ids)
            right = [tag for _, tags in chosen for tag in tags]
            texts = task.batch([window.ids for window, _ in chosen])
            return texts, torch.tensor(places, device=task.device), torch.tensor(right, device=task.device)

        return Drawn([len(window.ids) for window, _ in examples], make, train)

    def loss(self, task: Tag, train: TagTrain) -> Callable[[Any, Any], Loss]:
        def scores(model: EncoderWithHead, batch: Batch) -> tuple[Tensor, Tensor]:
            texts, places, right = batch
            return model(*texts.inputs)[places], right

        def loss(model: EncoderWithHead, batch: Batch) -> Loss:
            return cross_entropy(*scores(model, batch), train.label_smoothing)

        return taught(loss, scores, task, train, train.label_smoothing)

    def validate(self, task: Tag, items: Sequence[Sentence], recipe: Any, out: Path) -> dict[str, float]:
        """samples/valid.tsv: word, answer, right tag, with empty lines between sentences."""
        said = task.predict(item.words for item in items)
        rows: list[tuple[str, ...]] = []
        for item, found in zip(items, said, strict=True):
            rows += [*zip(item.words, found.tags, item.tags, strict=True), ()]
        write_sample(out, rows)
        return {score.name: score.value for score in task.evaluate(items, ["loss", *recipe.train.validate_metrics])}


def _vocabulary(settings: Words, items: Sequence[Sentence]) -> Vocabulary:
    if settings.kind != "ngrams":
        return tokenizer_of(settings, [" ".join(item.words) for item in items])
    return NGrams.train(
        (item.words for item in items),
        vocab_size=settings.vocab_size,
        min_count=settings.min_count,
        normalization=settings.normalization,
    )


def _windows(task: Tag, item: Sentence) -> list[Window]:
    try:
        return task.windows(item.words)
    except DataError as error:
        raise DataError(f"sentence in line {item.line}: {error}") from None
