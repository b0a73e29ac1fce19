"""How a language model is learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor

from sublayer.data import Corpus
from sublayer.data.text import Line, joined, read_plain
from sublayer.data.windows import Windows
from sublayer.errors import CheckpointError, ConfigError
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.models.decoder import CausalLM
from sublayer.models.files import write_text
from sublayer.tasks.base import Job
from sublayer.tasks.complete import Complete
from sublayer.tasks.prepare import seeded, tokenizer_of
from sublayer.tasks.recipes import CompleteRecipe, CompleteTrain
from sublayer.tasks.search import read_search
from sublayer.tasks.sections import Published
from sublayer.tasks.sizes import TUNED, Choices, filled
from sublayer.tasks.starting import published_writer
from sublayer.tasks.teachers import taught
from sublayer.text import load_side
from sublayer.train.loss import Loss


class Completing(Job):
    architecture = "decoder"
    wanted = "name a file of plain text"

    def read(self, files: list[str], recipe: CompleteRecipe, *, skip_bad: bool) -> Corpus[Line]:
        return read_plain(files)

    def fill_in(self, recipe: CompleteRecipe, items: Sequence[Line]) -> Choices:
        told: list[str] = []
        given = recipe.train.model_dump(exclude_unset=True) if recipe.train is not None else {}
        size = sum(len(line.text) + 1 for line in items)
        if isinstance(recipe.model, Published):
            settings = _settings(size // 4, given.get("steps"), given.get("context", 256)) | TUNED
            return filled(recipe, CompleteTrain, {}, settings, told, f"{size:,} characters")
        if recipe.text.kind == "auto":
            kind = "char" if size < 5_000_000 else "bpe"
            told.append(f"text: {kind}, for {size:,} characters")
            recipe = recipe.model_copy(update={"text": recipe.text.model_copy(update={"kind": kind})})
        settings = _settings(size, given.get("steps"), given.get("context", 64))
        return filled(recipe, CompleteTrain, _model(size), settings, told, f"{size:,} characters")

    def fresh(self, recipe: CompleteRecipe, items: Sequence[Line]) -> Complete:
        assert recipe.train is not None and recipe.model is not None
        if isinstance(recipe.model, Published):
            return _tuned(recipe, recipe.model)
        target = tokenizer_of(recipe.text, joined(items))
        context = {"max_len": max(recipe.model.max_len, recipe.train.context)}
        config = ModelConfig.read(recipe.model.model_dump() | {"target_vocab": target.vocab_size} | context)
        model = seeded(config, recipe.train)
        assert isinstance(model, CausalLM)
        return Complete(model, config, target, recipe.train.context, recipe.search)

    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> Complete:
        search = read_search(about.get("search", {}), str(folder / "task.json"))
        context = about.get("context")
        if not isinstance(context, int) or context < 1:
            raise CheckpointError(f"{folder / 'task.json'}: context is {context!r}, expected a number of tokens.")
        model = build(config)
        assert isinstance(model, CausalLM)
        return Complete(model, config, load_side(folder / "tokenizer.json"), context, search)

    def encode(self, task: Complete, items: Sequence[Line]) -> list[int]:
        return task.encode(items)

    def batches(self, task: Complete, examples: Sequence[int], train: CompleteTrain) -> _Windows:
        return _Windows(task, examples, train)

    def loss(self, task: Complete, train: CompleteTrain) -> Callable[[Any, Any], Loss]:
        usual = partial(task.cost, smoothing=train.label_smoothing, chunk=train.loss_chunk)
        return taught(usual, task.logits_and_labels, task, train, train.label_smoothing)

    def validate(self, task: Complete, items: Sequence[Line], recipe: Any, out: Path) -> dict[str, float]:
        """samples/valid.txt: how the model would begin a text."""
        (out / "samples").mkdir(exist_ok=True)
        write_text(out / "samples" / "valid.txt", next(task.predict([""]))[0].text)
        return {score.name: score.value for score in task.evaluate(items, task.metrics)}


def _tuned(recipe: CompleteRecipe, source: Published) -> Complete:
    assert recipe.train is not None
    model, config, target = published_writer(source, recipe.train)
    assert isinstance(model, CausalLM)
    context = recipe.train.context
    if context > config.longest:
        raise ConfigError(f"train.context is {context}, and {source.source} reads {config.max_len}: write no more.")
    return Complete(model, config, target, context, recipe.search)


class _Windows:
    """The training text as the trainer sees it."""

    def __init__(self, task: Complete, ids: Sequence[int], train: CompleteTrain) -> None:
        self.task = task
        self.windows = Windows(ids, task.context, max(1, train.batch_tokens // task.context), seed=train.seed)

    def epoch(self, number: int) -> list[list[int]]:
        return self.windows.epoch(number)

    def make(self, rows: list[int]) -> Tensor:
        return self.windows.make(rows).to(self.task.device)


def _model(characters: int) -> dict[str, Any]:
    """The longer the text, the larger, and the less dropout."""
    common = dict(position="rotary", norm="rmsnorm", ffn="swiglu", bias=False)
    if characters < 300_000:
        return common | dict(d_model=96, num_heads=4, decoder_layers=3, d_ff=256, dropout=0.2)
    if characters < 5_000_000:
        return common | dict(d_model=128, num_heads=4, decoder_layers=4, d_ff=344, dropout=0.0)
    return common | dict(d_model=384, num_heads=6, decoder_layers=6, d_ff=1024, dropout=0.0)


def _settings(characters: int, steps: int | None, context: int) -> dict[str, Any]:
    """Updates of 12 windows: on a CPU small ones learn most in the same time. Three passes where `steps` is open."""
    steps = steps or max(1000, min(20000, 3 * characters // (12 * context)))
    every = max(100, steps // 8)
    return dict(
        steps=steps,
        context=context,
        batch_tokens=12 * context,
        learning_rate=3e-3,
        warmup=min(100, steps // 10),
        weight_decay=0.1,
        validate_every=every,
        save_every=every,
    )
