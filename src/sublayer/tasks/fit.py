"""From a recipe to a run folder."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import nn

from sublayer.errors import CheckpointError, ConfigError, listing
from sublayer.models.files import sweep
from sublayer.models.store import load_weights
from sublayer.nn import merge
from sublayer.tasks.bundle import load
from sublayer.tasks.prepare import Prepared, device_of, encoded, prepare, read
from sublayer.tasks.recipe_file import differences, read_recipe, write_recipe
from sublayer.tasks.resuming import go_on, made_of, newest
from sublayer.tasks.samples import Samples
from sublayer.tasks.sections import AnyRecipe, Train
from sublayer.tasks.tuning import tune
from sublayer.train.around import Bfloat16, Recomputed
from sublayer.train.loss import Loss
from sublayer.train.moving import Average, Moving
from sublayer.train.optim import optimizer
from sublayer.train.plan import Limits, Watch
from sublayer.train.report import JsonLines, Listener, Listeners
from sublayer.train.schedule import SCHEDULES
from sublayer.train.stop import Signals, Stopped
from sublayer.train.tensorboard import TensorBoard
from sublayer.train.trackio import Trackio
from sublayer.train.trainer import Trainer
from sublayer.train.wandb import Wandb
from sublayer.train.world import World, world_of


def fit(recipe: AnyRecipe, out: Path, listener: Listener, *, resume: bool = False, next_epoch: bool = False) -> Any:
    """Train what the recipe says into the folder `out`; the task object with the best model, ready to predict.

    Reading comes first, so that bad data or settings stop the run before anything is written. A resumed run keeps
    its own recipe: ConfigError where `recipe` says something else, and where the data or what makes the batches have
    changed, unless it is to go on with the `next_epoch`. Where torchrun has started several processes, each calls it;
    the first one tells and writes. SIGINT and SIGTERM save the run and raise Stopped.
    """
    held = read_recipe(out / "recipe.yaml") if resume and (out / "recipe.yaml").exists() else recipe
    train = held.train or Train()
    world = world_of(train.parallel, device_of(train))
    if world.rank:
        listener = Listeners([])
    if resume:
        return _resume(recipe, out, listener, world, next_epoch)
    if world.agreed((out / "recipe.yaml").exists()):
        raise ConfigError(f"{out} holds a run already. Continue it with --resume, or choose another --out.")
    ready = prepare(recipe, listener)
    if world.rank == 0:
        ready.task.describe(out)
        write_recipe(ready.recipe, out / "recipe.yaml")
    return _train(ready, out, listener, world)


def _resume(asked: AnyRecipe, out: Path, listener: Listener, world: World, next_epoch: bool) -> Any:
    if not (out / "recipe.yaml").exists():
        raise CheckpointError(f"{out} holds no run to continue: start one without --resume.")
    recipe = read_recipe(out / "recipe.yaml")
    if changed := differences(asked, recipe):
        title = f"A resumed run keeps its recipe. To change it all the same, edit {out / 'recipe.yaml'}. Asked for now:"
        raise ConfigError(listing(title, changed))
    found = world.agreed(newest(out / "checkpoints", listener) if world.rank == 0 else None)
    if found is None:
        listener.message("The run was stopped before its first checkpoint: it starts from the beginning.")
        return _train(prepare(recipe, listener), out, listener, world)
    assert recipe.train is not None
    items, valid = read(recipe, listener)
    task = load(out, weights=False, trust_code=True)
    task.model.to(device_of(recipe.train))
    listener.message(f"Continuing from {found.name}.")
    return _train(encoded(recipe, task, items, valid, listener), out, listener, world, found, next_epoch)


def _train(
    ready: Prepared,
    out: Path,
    listener: Listener,
    world: World,
    checkpoint: Path | None = None,
    next_epoch: bool = False,
) -> Any:
    job, task, train = ready.job, ready.task, ready.recipe.train
    assert train is not None
    tune(task.model, train)
    after = 0 if checkpoint is None else int(checkpoint.name.removeprefix("step-"))
    listener, signals = _listeners(train, out, listener, world, after), Signals()
    trainer = Trainer(
        task.model,
        around(job.loss(task, train), train, task.device),
        job.batches(task, ready.examples, train),
        optimizer_of(train),
        SCHEDULES[train.schedule](train.learning_rate, train.warmup, train.steps),
        _limits(train),
        folder=out,
        listener=listener,
        validate=_validation(ready, out, world),
        watch=Watch(train.metric, train.measures[train.metric].higher_is_better, train.patience),
        world=world,
        rise=train.rise,
        average=partial(Moving, decay=train.ema) if train.ema else Average,
        stop=signals.asked,
    )
    if checkpoint is None:
        trainer.at.extra = made_of(ready)
    else:
        trainer.resume(checkpoint)
        go_on(trainer.at, made_of(ready), next_epoch=next_epoch, listener=listener)
    with signals:
        trainer.run()
    if trainer.stopped:
        listener.message(f"Asked to stop: all is saved as of step {trainer.at.step}.")
        raise Stopped(signals.number or signal.SIGTERM)
    merge(task.model)
    load_weights(task.model, out / "model.safetensors")
    task.model.eval()
    return task


def _listeners(train: Train, out: Path, listener: Listener, world: World, after: int) -> Listener:
    """The given one and the run's own, and what else a run begins with in each process."""
    if world.rank:
        torch.manual_seed(train.seed + world.rank)  # the weights are alike by now, and what is dropped need not be
        return listener
    for folder in (out, out / "checkpoints"):
        sweep(folder)
    more: list[Listener] = [TensorBoard(out / "tensorboard")] if train.tensorboard else []
    more += [Wandb(train.wandb, out)] if train.wandb else []
    more += [Trackio(train.trackio, out)] if train.trackio else []
    more += [Samples(out, train.samples, listener)] if train.samples else []
    return Listeners([listener, JsonLines(out / "metrics.jsonl", after=after), *more])


def optimizer_of(train: Train) -> Callable[[nn.Module], torch.optim.Optimizer]:
    """What makes the optimiser of a model."""
    options = train.model_dump(include={"betas", "eps", "weight_decay", "layer_decay"})
    return partial(optimizer, kind=train.optimizer, **options)


def around(loss: Callable[[Any, Any], Loss], train: Train, device: torch.device) -> Callable[[Any, Any], Loss]:
    """The loss in the precision and with the memory that the recipe asks for."""
    loss = Recomputed(loss) if train.recompute else loss
    return Bfloat16(loss, device.type) if train.precision == "bf16" else loss


def _validation(ready: Prepared, out: Path, world: World) -> Callable[[], dict[str, float]] | None:
    """Each process validates, since a model in parts needs all of them; the first one keeps the samples."""
    if ready.valid is None:
        return None
    items = ready.valid.items

    def validate() -> dict[str, float]:
        with nullcontext(out) if world.rank == 0 else TemporaryDirectory() as folder:
            return ready.job.validate(ready.task, items, ready.recipe, Path(folder))

    return validate


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
