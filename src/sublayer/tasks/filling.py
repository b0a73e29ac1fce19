"""How filling blanks is learned: pre-training on raw text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sublayer.data import Corpus
from sublayer.data.text import Line, read_plain
from sublayer.errors import CheckpointError
from sublayer.models.build import build
from sublayer.models.config import ModelConfig, Part
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.base import Job
from sublayer.tasks.fill import Blanked, Fill
from sublayer.tasks.folder import write_sample
from sublayer.tasks.prepare import seeded, tokenizer_of
from sublayer.tasks.recipes import FillRecipe, FillTrain
from sublayer.tasks.sections import Published
from sublayer.tasks.sizes import Choices, filled
from sublayer.tasks.starting import with_head
from sublayer.tasks.teachers import taught
from sublayer.tasks.texts import Drawn
from sublayer.text import NGrams, load_vocabulary
from sublayer.train.loss import Loss

Rows = tuple[int, list[int]]
"""An epoch, and the texts of a batch: each epoch leaves out other tokens."""


class Filling(Job):
    architecture = "encoder"
    wanted = "name a file of plain text"

    def read(self, files: list[str], recipe: FillRecipe, *, skip_bad: bool) -> Corpus[Line]:
        return read_plain(files)

    def fill_in(self, recipe: FillRecipe, items: Sequence[Line]) -> Choices:
        told: list[str] = []
        size = sum(len(line.text) + 1 for line in items)
        published = isinstance(recipe.model, Published)
        if recipe.text.kind == "auto" and not published:
            spaces = sum(line.text.count(" ") for line in items)
            kind = "bpe" if spaces * 20 > size else "char"
            told.append(f"text: {kind}, for {size:,} characters with {spaces:,} spaces")
            recipe = recipe.model_copy(update={"text": recipe.text.model_copy(update={"kind": kind})})
        given = recipe.train.model_dump(exclude_unset=True) if recipe.train is not None else {}
        settings = _settings(size, given.get("steps"), published)
        return filled(recipe, FillTrain, _model(size), settings, told, f"{size:,} characters")

    def fresh(self, recipe: FillRecipe, items: Sequence[Line]) -> Fill:
        assert recipe.train is not None and recipe.model is not None
        rate = recipe.train.masked
        if isinstance(recipe.model, Published):
            model, config, words, head = with_head(recipe.model, "masked-lm", recipe.train)
            return Fill(model, config, words, head, rate)
        own = tokenizer_of(recipe.text, [line.text for line in items if line.text.strip()])
        config = ModelConfig.read(recipe.model.model_dump() | {"source_vocab": own.vocab_size + 1})  # and the mask
        made = seeded(_headed(config, {}), recipe.train)
        assert isinstance(made, EncoderWithHead)
        return Fill(made, config, own, {}, rate)

    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> Fill:
        words = load_vocabulary(folder / "tokenizer.json")
        try:
            head, rate = dict(about["head"]), float(about["rate"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{folder / 'task.json'} does not say how blanks are filled: {error!r}.") from None
        if isinstance(words, NGrams):
            raise CheckpointError(f"{folder / 'tokenizer.json'} holds words with n-grams, which cannot be guessed.")
        model = build(_headed(config, head))
        assert isinstance(model, EncoderWithHead)
        return Fill(model, config, words, head, rate)

    def encode(self, task: Fill, items: Sequence[Line]) -> list[list[int]]:
        return task.encode_lines(items)

    def batches(self, task: Fill, examples: Sequence[list[int]], train: FillTrain) -> _Masked:
        return _Masked(task, examples, train)

    def loss(self, task: Fill, train: FillTrain) -> Callable[[Any, Any], Loss]:
        return taught(task.cost, task.logits_and_labels, task, train, train.label_smoothing)

    def validate(self, task: Fill, items: Sequence[Line], recipe: Any, out: Path) -> dict[str, float]:
        """samples/valid.tsv: the first lines with their first word left out, and filled."""
        lines = [line.text.split(" ", 1) for line in items if line.text.strip()][:20]
        texts = [" ".join([task.spelled, *rest]) for _, *rest in lines]
        short = [text for text in texts if len(task.blanked(text)) <= task.limit]
        write_sample(out, ([text, found.text] for text, found in zip(short, task.predict(short), strict=True)))
        return {score.name: score.value for score in task.evaluate(items, task.metrics)}


class _Masked(Drawn):
    """The training texts as the trainer sees them. What is left out is a pure function of (seed, epoch, text)."""

    def __init__(self, task: Fill, examples: Sequence[list[int]], train: FillTrain) -> None:
        super().__init__([len(ids) + 2 for ids in examples], self._blanked, train)
        self.task, self.examples, self.seed = task, examples, train.seed

    def epoch(self, number: int) -> Iterator[Any]:
        return ((number, rows) for rows in super().epoch(number))

    def _blanked(self, drawn: Any) -> list[Blanked]:
        epoch, rows = drawn
        found = []
        for row in rows:
            ids = self.examples[row]
            random = np.random.default_rng([self.seed, epoch, row])
            found.append(self.task.hidden(ids, *self.task.masking(ids, random)))
        return found


def _headed(config: ModelConfig, head: dict[str, Any]) -> ModelConfig:
    return config.model_copy(update={"head": Part(kind="masked-lm", **head)})


def _model(characters: int) -> dict[str, Any]:
    """The longer the text, the larger, and the less dropout."""
    if characters < 300_000:
        return dict(d_model=128, encoder_layers=3, dropout=0.1)
    if characters < 20_000_000:
        return dict(d_model=256, encoder_layers=4, dropout=0.1)
    return dict(d_model=512, num_heads=8, encoder_layers=6, dropout=0.1)


def _settings(characters: int, steps: int | None, published: bool) -> dict[str, Any]:
    """Forty passes where `steps` is left open, three of a published model: each leaves out other tokens."""
    passes = 3 if published else 40
    steps = steps or max(300 if published else 1000, min(20000, passes * characters // (4 * 2048)))
    every = max(100, steps // 8)
    rate = dict(learning_rate=1e-4, schedule="linear", weight_decay=0.01) if published else dict(weight_decay=0.01)
    return dict(steps=steps, batch_tokens=2048, warmup=steps // 10, validate_every=every, save_every=every) | rate
