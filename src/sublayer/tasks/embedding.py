"""How vectors of texts are learned: from pairs that belong together, or from pairs with a score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from sublayer.data import Corpus
from sublayer.data.rows import Row, read_rows
from sublayer.errors import CheckpointError, DataError
from sublayer.models.config import ModelConfig
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.base import Job
from sublayer.tasks.embed import Embed, Vectors
from sublayer.tasks.folder import write_sample
from sublayer.tasks.long_texts import Reading
from sublayer.tasks.pair_recipes import EmbedRecipe, EmbedTrain
from sublayer.tasks.pairs import alike, contrast, regress, scores_of
from sublayer.tasks.sections import Published
from sublayer.tasks.sizes import Choices, filled
from sublayer.tasks.text_sizes import few_texts, text_model, tuned_texts, words_kind
from sublayer.tasks.texts import Drawn, empty, start, vocabulary_of
from sublayer.text import load_vocabulary
from sublayer.train.loss import Loss

Example = tuple[Reading, Reading, float | None]


class Batch(NamedTuple):
    """Pairs: the first texts and then the second ones; which pairs share a text (N, N), or the scores (N,)."""

    texts: list[Reading]
    same: Tensor | None
    scores: Tensor | None


class Embedding(Job):
    architecture = "encoder"
    wanted = "name a file of pairs of texts, each with a score or none"

    def read(self, files: list[str], recipe: EmbedRecipe, *, skip_bad: bool) -> Corpus[Row]:
        return read_rows(files[0], (2, 3), columns=recipe.data.columns, noun="text pairs", skip_bad=skip_bad)

    def fill_in(self, recipe: EmbedRecipe, items: Sequence[Row]) -> Choices:
        told: list[str] = []
        if isinstance(recipe.model, Published):
            settings = tuned_texts(len(items), recipe.train)
        else:
            recipe = recipe.model_copy(update={"text": words_kind(recipe.text, _texts(items), told)})
            settings = few_texts(len(items), recipe.train)
        settings["batch_tokens"] = 1024
        if len(items[0].cells) == 3:
            right = scores_of(items)
            given = recipe.scores.model_dump(exclude_none=True)
            scores = {"lowest": min(right), "highest": max(right)} | given
            told.append(f"scores: {scores['lowest']:g} is unlike and {scores['highest']:g} is alike")
            recipe = recipe.model_copy(update={"scores": recipe.scores.model_copy(update=scores)})
            settings |= {"validate_metrics": ["spearman", "pearson"], "metric": "spearman"}
        else:
            settings |= {"validate_metrics": ["retrieval"], "metric": "retrieval"}
        given = {} if recipe.train is None else recipe.train.model_dump(exclude_unset=True)
        if "validate_metrics" in given and "metric" not in given:
            settings["metric"] = (*given["validate_metrics"], "loss")[0]
        return filled(recipe, EmbedTrain, text_model(len(items)), settings, told, f"{len(items):,} text pairs")

    def fresh(self, recipe: EmbedRecipe, items: Sequence[Row]) -> Embed:
        assert recipe.train is not None and recipe.model is not None
        scores = recipe.scores
        if scores.highest is not None and scores.lowest == scores.highest:
            raise DataError(f"There is nothing to tell apart: every score is {scores.highest:g}.")
        body, config, words = start(recipe.model, recipe.train, partial(vocabulary_of, recipe.text, _texts(items)))
        scored = scores.model_dump() if len(items[0].cells) == 3 else {}
        vectors = Vectors(**recipe.vector.model_dump(), scale=recipe.train.scale, **scored)
        return Embed(EncoderWithHead(body, vectors.head(config)), config, words, vectors)

    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> Embed:
        try:
            vectors = Vectors(**about["vectors"])
            model = empty(config, "sentence", pool=vectors.pool, normalize=vectors.normalize)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{folder / 'task.json'} does not say what vectors there are: {error!r}.") from None
        return Embed(model, config, load_vocabulary(folder / "tokenizer.json"), vectors, about.get("longest"))

    def encode(self, task: Embed, items: Sequence[Row]) -> list[Example]:
        return task.encode_pairs(items)

    def batches(self, task: Embed, examples: Sequence[Example], train: EmbedTrain) -> Drawn:
        def make(rows: list[int]) -> Batch:
            chosen = [examples[row] for row in rows]
            texts = [*(a for a, _, _ in chosen), *(b for _, b, _ in chosen)]
            if chosen[0][2] is None:
                return Batch(texts, alike([(str(a.windows), str(b.windows)) for a, b, _ in chosen]), None)
            return Batch(texts, None, torch.tensor([score for *_, score in chosen]))

        return Drawn([_tokens(a) + _tokens(b) for a, b, _ in examples], make, train)

    def loss(self, task: Embed, train: EmbedTrain) -> Callable[[Any, Any], Loss]:
        def loss(model: EncoderWithHead, batch: Batch) -> Loss:
            first, second = task.embedded(model, batch.texts).chunk(2)
            if batch.scores is None:
                assert batch.same is not None
                return contrast(first, second, batch.same.to(first.device), train.scale)
            return regress(F.cosine_similarity(first, second), batch.scores.to(first.device))

        return loss

    def validate(self, task: Embed, items: Sequence[Row], recipe: Any, out: Path) -> dict[str, float]:
        """samples/valid.tsv: the cosine of a pair, its cells."""
        found = list(task.predict(cell for row in items for cell in row.cells[:2]))
        near = (float(F.cosine_similarity(a, b, dim=0)) for a, b in zip(found[::2], found[1::2], strict=True))
        write_sample(out, ([f"{cosine:.4f}", *row.cells] for row, cosine in zip(items, near, strict=True)))
        return {score.name: score.value for score in task.evaluate(items, ["loss", *recipe.train.validate_metrics])}


def _texts(items: Sequence[Row]) -> list[str]:
    return [cell for row in items for cell in row.cells[:2]]


def _tokens(reading: Reading) -> int:
    return sum(map(len, reading.windows))
