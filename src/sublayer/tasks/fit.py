"""From a recipe to a run folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any
from zlib import crc32

from sublayer.data import Pair, Pairs, group
from sublayer.data.batch import PackedPairs, PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.errors import CheckpointError, ConfigError, listing
from sublayer.evaluate import direction, evaluate_texts
from sublayer.models.files import write_text
from sublayer.models.store import load_weights
from sublayer.tasks.bundle import load
from sublayer.tasks.packing import pack, packs
from sublayer.tasks.prepare import Prepared, device_of, encoded, prepare, read
from sublayer.tasks.recipe import Recipe, Train
from sublayer.tasks.recipe_file import differences, read_recipe, write_recipe
from sublayer.tasks.search import Search
from sublayer.tasks.teaching import sizes, translation_loss
from sublayer.tasks.translate import Translate
from sublayer.train.loss import Loss
from sublayer.train.optim import optimizer
from sublayer.train.report import JsonLines, Listener, Listeners
from sublayer.train.schedule import SCHEDULES
from sublayer.train.state import checkpoints
from sublayer.train.stretch import Stretched
from sublayer.train.tensorboard import TensorBoard
from sublayer.train.trainer import Limits, Trainer, Watch


class _Encoded:
    """The training pairs as the trainer sees them."""

    def __init__(self, ready: Prepared, train: Train) -> None:
        self.task, self.examples = ready.task, ready.examples
        self.batches = TokenBatches(sizes(self.examples), train.batch_tokens, seed=train.seed)

    def epoch(self, number: int) -> list[list[int]]:
        return self.batches.epoch(number)

    def make(self, rows: list[int]) -> PairBatch | PackedPairs:
        examples = [self.examples[row] for row in rows]
        return pack(self.task, examples) if packs(self.task, examples) else self.task.batch(examples)


def fit(recipe: Recipe, out: Path, listener: Listener, *, resume: bool = False) -> Translate:
    """Train what the recipe says into the folder `out`; the best model, ready to predict.

    Reading comes first, so that bad data or settings stop the run before anything is written. A resumed run keeps
    its own recipe: ConfigError where `recipe` says something else.
    """
    if resume:
        return _resume(recipe, out, listener)
    if (out / "recipe.yaml").exists():
        raise ConfigError(f"{out} holds a run already. Continue it with --resume, or choose another --out.")
    ready = prepare(recipe, listener)
    ready.task.describe(out)
    write_recipe(ready.recipe, out / "recipe.yaml")
    return _train(ready, out, listener)


def _resume(asked: Recipe, out: Path, listener: Listener) -> Translate:
    if not (out / "recipe.yaml").exists():
        raise CheckpointError(f"{out} holds no run to continue: start one without --resume.")
    recipe = read_recipe(out / "recipe.yaml")
    if changed := differences(asked, recipe):
        title = f"A resumed run keeps its recipe. To change it all the same, edit {out / 'recipe.yaml'}. Asked for now:"
        raise ConfigError(listing(title, changed))
    found = checkpoints(out / "checkpoints")
    if not found:
        listener.message("The run was stopped before its first checkpoint: it starts from the beginning.")
        return _train(prepare(recipe, listener), out, listener)
    assert recipe.train is not None
    pairs, valid = read(recipe, listener)
    task = load(out, weights=False, trust_code=True)
    task.model.to(device_of(recipe.train))
    listener.message(f"Continuing from {found[-1].name}.")
    return _train(encoded(recipe, task, pairs, valid), out, listener, found[-1])


def _train(ready: Prepared, out: Path, listener: Listener, checkpoint: Path | None = None) -> Translate:
    task, train = ready.task, ready.recipe.train
    assert train is not None
    after = 0 if checkpoint is None else int(checkpoint.name.removeprefix("step-"))
    heard: list[Listener] = [listener, JsonLines(out / "metrics.jsonl", after=after)]
    if train.tensorboard:
        heard.append(TensorBoard(out / "tensorboard"))
    trainer = Trainer(
        task.model,
        _loss(train),
        _Encoded(ready, train),
        partial(optimizer, kind=train.optimizer, betas=train.betas, eps=train.eps, weight_decay=train.weight_decay),
        SCHEDULES[train.schedule](train.learning_rate, train.warmup, train.steps),
        _limits(train),
        folder=out,
        listener=Listeners(heard),
        validate=None if ready.valid is None else _validation(task, ready.valid.items, train, out),
        watch=Watch(train.metric, direction(train.metric), train.patience),
    )
    pairs = {"pairs": len(ready.pairs), "digest": _digest(ready.pairs)}
    if checkpoint is not None:
        trainer.resume(checkpoint)
        if trainer.at.extra != pairs:
            listener.message(
                f"{ready.pairs.name} has changed: {trainer.at.extra.get('pairs', 0):,} pairs when the run began, "
                f"{len(ready.pairs):,} now. What follows is not what the run would have come to."
            )
    trainer.at.extra = pairs
    trainer.run()
    load_weights(task.model, out / "model.safetensors")
    task.model.eval()
    return task


def _loss(train: Train) -> Callable[[Any, Any], Loss]:
    loss = partial(translation_loss, smoothing=train.label_smoothing)
    return Stretched(loss, train.stretch_positions) if train.stretch_positions else loss


def _digest(pairs: Pairs) -> int:
    """A number that changes with the pairs or their order."""
    return reduce(lambda found, pair: crc32(f"{pair.source}\t{pair.target}\n".encode(), found), pairs, 0)


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
