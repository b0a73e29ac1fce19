"""The loop."""

import math
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import nn

from sublayer.models.store import FORMAT, merged, save_tensors, weights
from sublayer.train.guard import Given, Guard
from sublayer.train.loss import Loss, no_loss
from sublayer.train.moving import Average
from sublayer.train.optim import clip, scale_gradients
from sublayer.train.plan import Batches, Limits, Watch
from sublayer.train.report import Listener, Progress, places_of, resident
from sublayer.train.schedule import Schedule
from sublayer.train.state import Position, restore, rotate, save
from sublayer.train.world import Alone, World


class Trainer:
    """Trains `model` by `loss(model, batch)`.

    optimizer  makes the optimiser, once the model stands as it is trained
    validate   gives the metrics of the model as it stands
    folder     where `model.safetensors` (the best, or the last without validation) and `checkpoints/` go
    world      the processes that train together; each runs this loop on its part of the batches. An update takes
               `accumulate` batches a process.
    rise       by how much the loss may stand above the lowest so far, see `Guard`
    average    makes the mean of the weights that is validated and kept in their place
    stop       asked after each update: true where the run is to save and leave
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Callable[[Any, Any], Loss],
        batches: Batches,
        optimizer: Callable[[nn.Module], torch.optim.Optimizer],
        schedule: Schedule,
        limits: Limits,
        *,
        folder: Path,
        listener: Listener,
        validate: Callable[[], dict[str, float]] | None = None,
        watch: Watch | None = None,
        world: World | None = None,
        average: Callable[[nn.Module], Average] = Average,
        rise: float = 0.0,
        stop: Callable[[], bool] = bool,
    ) -> None:
        self.world = world or Alone()
        self.loss = self.world.step(model, loss)
        self.model, self.batches = model, batches
        self.optimizer, self.schedule, self.limits = optimizer(model), schedule, limits
        self.folder, self.listener = folder, listener
        self.validate, self.watch = validate, watch or Watch()
        self.average, self.guard = average(model), Guard(folder, self.world, rise)
        self.stop, self.stopped = stop, False
        self.at = Position()
        self._begun, self._tokens = time.monotonic(), 0  # of this process: for the speed that is shown
        self._places = [0, 0]  # of its batches, and how many of them hold a token

    def resume(self, checkpoint: Path) -> None:
        """Go on from a checkpoint of this run."""
        self.at = restore(checkpoint, self.model, self.optimizer, self.world, self.average)

    def run(self) -> Position:
        """Train to the end; where the run stands then."""
        begun = time.monotonic() - self.at.seconds
        self._begun, self._tokens = time.monotonic(), 0
        self.model.train()
        if self._is_last() or self._waited_enough():
            self.listener.message(f"Nothing is left to do: the run ended at step {self.at.step}.")
            return self.at
        for group in self._groups():
            self.at.seconds = self._since(begun)
            self._update(group)
            self.at.seconds = self._since(begun)
            last = self._is_last()
            if self.validate is not None and (last or self.at.step % self.limits.validate_every == 0):
                last = self._validate() or last
            self.stopped = not last and self.world.any(self.stop())
            if last or self.stopped or self.at.step % self.limits.save_every == 0:
                self._save()
            if last or self.stopped:
                break
        return self.at

    def _groups(self) -> Iterator[list[Given]]:
        """The batches of this process that make one update, epoch after epoch, from where the run stands.

        Where an epoch's last batches do not go round, a process that has none repeats one that counts for nothing.
        """
        while True:
            epoch = islice(self.batches.epoch(self.at.epoch), self.at.batch, None)
            while group := list(islice(epoch, self.limits.accumulate * self.world.size)):
                mine = group[self.world.rank :: self.world.size]
                idle = group[: len(mine) < math.ceil(len(group) / self.world.size)]
                self.at.batch += len(group)
                made = [Given(rows, self.batches.make(rows)) for rows in mine]
                yield made + [Given(rows, self.batches.make(rows), counts=False) for rows in idle]
            self.at.epoch, self.at.batch = self.at.epoch + 1, 0

    def _update(self, group: list[Given]) -> None:
        summed, nlls = no_loss(), []
        for number, (_, batch, counts) in enumerate(group, 1):
            with self.world.collecting(last=number == len(group)):
                loss = self.loss(batch)
                (loss.total if counts else 0 * loss.total).backward()
            nlls.append(float(loss.nll))
            self._places = [sum(both) for both in zip(self._places, places_of(batch), strict=True)]
            if counts:
                summed = Loss(summed.total, summed.nll + loss.nll.cpu(), summed.count + loss.count)
        summed = self.world.sum(summed)
        self.at.step += 1
        rate = self.schedule(self.limits.effective_step(self.at))
        if summed.count == 0:
            self.at.skipped += 1
        else:
            scale_gradients(self.model.parameters(), self.world.size / summed.count)
            norm = clip(self.model.parameters(), self.limits.clip) if self.limits.clip else 0.0
            self.guard.check(self.at, float(summed.nll) / summed.count, norm, group, nlls, self.model)
            for settings in self.optimizer.param_groups:
                settings["lr"] = rate * settings.get("scale", 1.0)
            self.optimizer.step()
            self.average.update(self.at.step - self.at.skipped)
        self.optimizer.zero_grad(set_to_none=True)
        self._tell(summed, rate)

    def _tell(self, summed: Loss, rate: float) -> None:
        self._tokens += summed.count
        self.at.window_nll += float(summed.nll)
        self.at.window_tokens += summed.count
        mean = self.at.window_nll / max(self.at.window_tokens, 1)
        spent, done = self.at.seconds, self.limits.done(self.at)
        places, filled = self._places
        self.listener.step(
            Progress(
                step=self.at.step,
                steps=self.limits.steps,
                epoch=self.at.epoch,
                loss=mean,
                rate=rate,
                tokens_per_second=self._tokens / (time.monotonic() - self._begun),
                spent=spent,
                left=spent * (1 - done) / done,
                padding=1 - filled / places if places else 0.0,
                memory=resident(),
                gpu=torch.cuda.memory_allocated() if torch.cuda.is_available() else 0,
            )
        )
        if self.at.step % self.limits.log_every == 0:
            line = {"step": self.at.step, "epoch": self.at.epoch, "loss": mean, "rate": rate}
            self.listener.record(line | ({"skipped": self.at.skipped} if self.at.skipped else {}))
            self.at.window_nll, self.at.window_tokens = 0.0, 0

    def _validate(self) -> bool:
        """Whether the run has waited long enough for a better one."""
        assert self.validate is not None
        with self.average.in_place(), self.world.whole():
            metrics = self.world.agreed(self.validate())
        self.model.train()
        score = metrics[self.watch.metric]
        if self.watch.better(score, self.at.best):
            self.at.best, self.at.best_step, self.at.waited = score, self.at.step, 0
            self._keep()
        else:
            self.at.waited += 1
        best = {"best": self.at.best, "best_step": self.at.best_step}
        self.listener.record({"step": self.at.step, **{f"valid_{k}": v for k, v in metrics.items()}, **best})
        if self._waited_enough():
            self.listener.message(
                f"Stopped: {self.watch.metric} has not been better than {self.at.best:.4f} "
                f"(step {self.at.best_step}) for {self.at.waited} validations."
            )
        return self._waited_enough()

    def _waited_enough(self) -> bool:
        return 0 < self.watch.patience <= self.at.waited

    def _keep(self) -> None:
        with self.average.in_place():
            held = {name: tensor.clone() for name, tensor in merged(self.model, weights(self.model)).items()}
        if self.world.rank == 0:
            save_tensors(held, self.folder / "model.safetensors", FORMAT)

    def _save(self) -> None:
        if self.validate is None:
            self._keep()
        saved = save(self.folder / "checkpoints", self.model, self.optimizer, self.at, self.world, self.average)
        if self.world.rank == 0:
            rotate(saved, self.limits.keep)
        self.world.agreed(None)  # nobody goes on before all is written

    def _since(self, begun: float) -> float:
        seconds = time.monotonic() - begun
        return float(self.world.agreed(seconds)) if self.limits.minutes else seconds

    def _is_last(self) -> bool:
        if self.limits.done(self.at) < 1:
            return False
        if self.at.step < self.limits.steps:
            self.listener.message(
                f"Stopped by the clock after {self.limits.minutes:g} minutes, at step {self.at.step} of "
                f"{self.limits.steps}."
            )
        return True
