"""How filling blanks is learned: pre-training on raw text, of an encoder or of an encoder-decoder."""

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
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks.base import Job
from sublayer.tasks.blanks import SENTINELS
from sublayer.tasks.fill import Fill
from sublayer.tasks.folder import write_sample
from sublayer.tasks.prepare import seeded, tokenizer_of
from sublayer.tasks.recipes import FillRecipe, FillTrain
from sublayer.tasks.sections import Published
from sublayer.tasks.sizes import Choices, filled
from sublayer.tasks.spans import FillSpans
from sublayer.tasks.starting import read, with_head, with_sides
from sublayer.tasks.teachers import taught
from sublayer.tasks.texts import Drawn
from sublayer.text import NGrams, load_side, load_vocabulary
from sublayer.train.loss import Loss

Rows = tuple[int, list[int]]
"""An epoch, and the texts of a batch: each epoch leaves out other tokens."""

AnyFill = Fill | FillSpans


class Filling(Job):
    architecture = "encoder"
    others = ("encoder-decoder",)
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
        writes = isinstance(recipe.model, ModelConfig) and recipe.model.architecture == "encoder-decoder"
        return filled(recipe, FillTrain, _model(size, writes), settings, told, f"{size:,} characters")

    def fresh(self, recipe: FillRecipe, items: Sequence[Line]) -> AnyFill:
        assert recipe.train is not None and recipe.model is not None
        rate = recipe.train.masked
        if isinstance(recipe.model, Published):
            return _tuned(recipe.model, recipe.train)
        own = tokenizer_of(recipe.text, [line.text for line in items if line.text.strip()])
        if recipe.model.architecture == "encoder-decoder":
            vocabularies = dict.fromkeys(("source_vocab", "target_vocab"), own.vocab_size + SENTINELS)
            config = ModelConfig.read(recipe.model.model_dump() | vocabularies)
            writer = seeded(config, recipe.train)
            assert isinstance(writer, EncoderDecoder)
            return FillSpans(writer, config, own, rate, recipe.train.span)
        config = ModelConfig.read(recipe.model.model_dump() | {"source_vocab": own.vocab_size + 1})  # and the mask
        made = seeded(_headed(config, {}), recipe.train)
        assert isinstance(made, EncoderWithHead)
        return Fill(made, config, own, {}, rate)

    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> AnyFill:
        make = _spans if config.architecture == "encoder-decoder" else _tokens
        try:
            return make(folder, about, config)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{folder / 'task.json'} does not say how blanks are filled: {error!r}.") from None

    def encode(self, task: AnyFill, items: Sequence[Line]) -> list[list[int]]:
        return task.encode_lines(items)

    def batches(self, task: AnyFill, examples: Sequence[list[int]], train: FillTrain) -> _Masked:
        return _Masked(task, examples, train)

    def loss(self, task: AnyFill, train: FillTrain) -> Callable[[Any, Any], Loss]:
        return taught(task.cost, task.logits_and_labels, task, train, train.label_smoothing)

    def validate(self, task: AnyFill, items: Sequence[Line], recipe: Any, out: Path) -> dict[str, float]:
        """samples/valid.tsv: the first lines with their first word left out, and filled."""
        lines = [line.text.split(" ", 1) for line in items if line.text.strip()][:20]
        texts = [" ".join([task.spelled, *rest]) for _, *rest in lines]
        short = [text for text in texts if len(task.blanked(text)) <= task.limit]
        write_sample(out, ([text, found.text] for text, found in zip(short, task.predict(short), strict=True)))
        return {score.name: score.value for score in task.evaluate(items, task.metrics)}


class _Masked(Drawn):
    """The training texts as the trainer sees them. What is left out is a pure function of (seed, epoch, text)."""

    def __init__(self, task: AnyFill, examples: Sequence[list[int]], train: FillTrain) -> None:
        super().__init__([len(ids) + 2 for ids in examples], self._blanked, train)
        self.task, self.examples, self.seed = task, examples, train.seed

    def epoch(self, number: int) -> Iterator[Any]:
        return ((number, rows) for rows in super().epoch(number))

    def _blanked(self, drawn: Any) -> list[Any]:
        epoch, rows = drawn
        found = []
        for row in rows:
            ids = self.examples[row]
            random = np.random.default_rng([self.seed, epoch, row])
            found.append(self.task.corrupted(ids, random))
        return found


def _tuned(model: Published, train: FillTrain) -> AnyFill:
    found = read(model, "encoder", "encoder-decoder")
    if found.config.architecture == "encoder":
        return Fill(*with_head(found, model, "masked-lm", train), train.masked)
    body, config, words, _ = with_sides(found, model, train)
    assert isinstance(body, EncoderDecoder)
    return FillSpans(body, config, words, train.masked, train.span)


def _spans(folder: Path, about: dict[str, Any], config: ModelConfig) -> FillSpans:
    rate, mean = float(about["rate"]), float(about["span"])
    model = build(config)
    assert isinstance(model, EncoderDecoder)
    return FillSpans(model, config, load_side(folder / "tokenizer.json"), rate, mean)


def _tokens(folder: Path, about: dict[str, Any], config: ModelConfig) -> Fill:
    head, rate = dict(about["head"]), float(about["rate"])
    words = load_vocabulary(folder / "tokenizer.json")
    if isinstance(words, NGrams):
        raise CheckpointError(f"{folder / 'tokenizer.json'} holds words with n-grams, which cannot be guessed.")
    model = build(_headed(config, head))
    assert isinstance(model, EncoderWithHead)
    return Fill(model, config, words, head, rate)


def _headed(config: ModelConfig, head: dict[str, Any]) -> ModelConfig:
    return config.model_copy(update={"head": Part(kind="masked-lm", **head)})


def _model(characters: int, writes: bool) -> dict[str, Any]:
    """The longer the text, the larger. A decoder is as deep as the encoder, and shares its vocabulary."""
    if characters < 300_000:
        found: dict[str, Any] = dict(d_model=128, encoder_layers=3, dropout=0.1)
    elif characters < 20_000_000:
        found = dict(d_model=256, encoder_layers=4, dropout=0.1)
    else:
        found = dict(d_model=512, num_heads=8, encoder_layers=6, dropout=0.1)
    return found | (dict(decoder_layers=found["encoder_layers"], tie="all") if writes else {})


def _settings(characters: int, steps: int | None, published: bool) -> dict[str, Any]:
    """Forty passes where `steps` is left open, three of a published model: each leaves out other tokens."""
    passes = 3 if published else 40
    steps = steps or max(300 if published else 1000, min(20000, passes * characters // (4 * 2048)))
    every = max(100, steps // 8)
    rate = dict(learning_rate=1e-4, schedule="linear", weight_decay=0.01) if published else dict(weight_decay=0.01)
    return dict(steps=steps, batch_tokens=2048, warmup=steps // 10, validate_every=every, save_every=every) | rate
