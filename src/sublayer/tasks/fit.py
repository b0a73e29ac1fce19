"""From a recipe to a run folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from sublayer.data import Pair, Pairs, group, read_pairs
from sublayer.data.batch import PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.errors import CheckpointError, ConfigError
from sublayer.evaluate import direction, evaluate_texts
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.models.store import load_weights
from sublayer.tasks.bundle import load
from sublayer.tasks.folder import write_text
from sublayer.tasks.recipe import Recipe, Search, Side, Train
from sublayer.tasks.recipe_file import read_recipe, write_recipe
from sublayer.tasks.sizes import fill_in
from sublayer.tasks.translate import Translate, sizes, translation_loss
from sublayer.text import Tokenizer, train_tokenizer
from sublayer.train.optim import optimizer
from sublayer.train.report import JsonLines, Listener, Listeners
from sublayer.train.schedule import SCHEDULES
from sublayer.train.state import checkpoints
from sublayer.train.tensorboard import TensorBoard
from sublayer.train.trainer import Limits, Trainer, Watch


class _Encoded:
    """The training pairs as the trainer sees them."""

    def __init__(self, task: Translate, pairs: Sequence[Pair], train: Train) -> None:
        self.task = task
        self.examples = task.encode_pairs(pairs)
        self.batches = TokenBatches(sizes(self.examples), train.batch_tokens, seed=train.seed)

    def epoch(self, number: int) -> list[list[int]]:
        return self.batches.epoch(number)

    def make(self, rows: list[int]) -> PairBatch:
        return self.task.batch([self.examples[row] for row in rows])


@dataclass(frozen=True)
class Prepared:
    """All that comes before the first update."""

    recipe: Recipe
    task: Translate
    pairs: Pairs
    valid: Pairs | None


def fit(recipe: Recipe, out: Path, listener: Listener, *, resume: bool = False) -> Translate:
    """Train what the recipe says into the folder `out`; the best model, ready to predict.

    Reading comes first, so that bad data or settings stop the run before anything is written.
    """
    if resume:
        return _resume(out, listener)
    if (out / "recipe.yaml").exists():
        raise ConfigError(f"{out} holds a run already. Continue it with --resume, or choose another --out.")
    ready = prepare(recipe, listener)
    ready.task.describe(out)
    write_recipe(ready.recipe, out / "recipe.yaml")
    return _train(ready, out, listener, None)


def prepare(recipe: Recipe, listener: Listener) -> Prepared:
    """Read the data, fill in what the recipe leaves open, learn the vocabularies, build the model."""
    pairs, valid = _read(recipe, listener)
    choices = fill_in(recipe, pairs.items)
    for line in choices.told:
        listener.message(line)
    train, model = choices.recipe.train, choices.recipe.model
    assert train is not None and model is not None
    source, target = _tokenizers(choices.recipe, pairs.items)
    config = _sized(model, source, target)
    torch.manual_seed(train.seed)
    built = build(config)
    assert isinstance(built, EncoderDecoder)
    task = Translate(built.to(_device(train)), config, source, target, recipe.search)
    return Prepared(choices.recipe.model_copy(update={"model": config}), task, pairs, valid)


def _resume(out: Path, listener: Listener) -> Translate:
    recipe = read_recipe(out / "recipe.yaml")
    found = checkpoints(out / "checkpoints")
    if not found:
        raise CheckpointError(f"{out / 'checkpoints'} holds no whole checkpoint. Start the run anew in another folder.")
    assert recipe.train is not None
    pairs, valid = _read(recipe, listener)
    task = load(out, weights=False, trust_code=True)
    task.model.to(_device(recipe.train))
    listener.message(f"Continuing from {found[-1].name}.")
    return _train(Prepared(recipe, task, pairs, valid), out, listener, found[-1])


def _read(recipe: Recipe, listener: Listener) -> tuple[Pairs, Pairs | None]:
    if recipe.data.train is None:
        raise ConfigError("data.train is not set: name a file of pairs, in the recipe or with --train.")
    read = [
        None if files is None else read_pairs(_files(files), columns=recipe.data.columns, skip_bad=recipe.data.skip_bad)
        for files in (recipe.data.train, recipe.data.valid)
    ]
    for pairs in read:
        if pairs is not None:
            listener.message(pairs.summary())
            for line, reason in pairs.skipped[:10]:
                listener.message(f"  line {line}: {reason}")
    train, valid = read
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


def _device(train: Train) -> torch.device:
    if train.device != "auto":
        return torch.device(train.device)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _train(ready: Prepared, out: Path, listener: Listener, checkpoint: Path | None) -> Translate:
    task, train = ready.task, ready.recipe.train
    assert train is not None
    after = None if checkpoint is None else int(checkpoint.name.removeprefix("step-"))
    heard: list[Listener] = [listener, JsonLines(out / "metrics.jsonl", after=after)]
    if train.tensorboard:
        heard.append(TensorBoard(out / "tensorboard"))
    trainer = Trainer(
        task.model,
        partial(translation_loss, smoothing=train.label_smoothing),
        _Encoded(task, ready.pairs.items, train),
        optimizer(task.model, train.optimizer, betas=train.betas, eps=train.eps, weight_decay=train.weight_decay),
        SCHEDULES[train.schedule](train.learning_rate, train.warmup, train.steps),
        _limits(train),
        folder=out,
        listener=Listeners(heard),
        validate=None if ready.valid is None else _validation(task, ready.valid.items, train, out),
        watch=Watch(train.metric, direction(train.metric), train.patience),
    )
    if checkpoint is not None:
        trainer.resume(checkpoint)
    trainer.run()
    load_weights(task.model, out / "model.safetensors")
    task.model.eval()
    return task


def _limits(train: Train) -> Limits:
    return Limits(
        steps=train.steps,
        minutes=train.minutes,
        accumulate=train.accumulate,
        clip=train.clip,
        log_every=train.log_every,
        validate_every=train.validate_every,
        save_every=train.save_every,
        keep=train.keep,
    )


def _validation(task: Translate, pairs: Sequence[Pair], train: Train, out: Path) -> Callable[[], dict[str, float]]:
    """Loss over all pairs; decoded, by greedy search, the first `validate_pairs` sources with all their targets.

    The newest answers go to samples/valid.tsv: source, answer, targets.
    """
    decoded = group(pairs)[: train.validate_pairs or None]
    right = [targets for _, targets in decoded]
    quick = Search(beam=1, **task.search.model_dump(include={"max_ratio", "max_extra"}))

    def validate() -> dict[str, float]:
        scores = task.evaluate(pairs, ["loss", "perplexity"])
        if train.validate_metrics:
            answers = [found[0].text for found in task.predict((source for source, _ in decoded), search=quick)]
            scores += evaluate_texts(train.validate_metrics, answers, right)
            lines = ("\t".join([source, said, *ok]) for (source, ok), said in zip(decoded, answers, strict=True))
            (out / "samples").mkdir(exist_ok=True)
            write_text(out / "samples" / "valid.tsv", "".join(f"{line}\n" for line in lines))
        return {score.name: score.value for score in scores}

    return validate
