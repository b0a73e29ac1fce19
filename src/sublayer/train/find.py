"""Settings found by trying them on the model itself, which is as before afterwards."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from typing import Any

import numpy as np
import torch
from torch import nn

from sublayer.errors import ConfigError
from sublayer.train.loss import Loss
from sublayer.train.optim import clip, scale_gradients
from sublayer.train.plan import Batches

LOWEST, HIGHEST, TRIED = 1e-7, 1.0, 100  # rates
RISEN = 4.0  # times the lowest loss: what comes after is of no use
SMOOTHING = 0.9  # of the losses that are compared
GAIN = 1.1  # by how much twice the batch has to be faster
TIMED = 3  # updates

Step = Callable[[Any, Any], Loss]
Optimizer = Callable[[nn.Module], torch.optim.Optimizer]


def losses_by_rate(
    model: nn.Module, loss: Step, batches: Batches, optimizer: Optimizer, rates: Sequence[float], norm: float = 1.0
) -> list[float]:
    """The loss a token that an update meets whose rate is the first, the second, ... of these: one update after the
    other, until it is no number or four times the lowest. Gradients are cut to this norm; 0: they are not."""
    found: list[float] = []
    with as_before(model):
        stepper = optimizer(model)
        for rate, batch in zip(rates, _endless(batches), strict=False):
            told = _update(model, loss, batch, stepper, rate, norm)
            if not told < RISEN * min(found, default=np.inf):
                break
            found.append(told)
    return found


def good_rate(rates: Sequence[float], losses: Sequence[float]) -> float:
    """A tenth of the rate where the loss, smoothed, was lowest: the rule of Howard and Gugger 2020 (fastai) for the
    range test of Smith 2017, section 3.3. ConfigError where the loss never fell."""
    mean, smooth = 0.0, []
    for number, loss in enumerate(losses, 1):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
        smooth.append(mean / (1 - SMOOTHING**number))
    lowest = int(np.argmin(smooth)) if smooth else 0
    if lowest == 0:
        raise ConfigError(
            f"The loss falls at no rate from {rates[0]:g} to {rates[-1]:g}: look at the data, or name more of it."
        )
    return rates[lowest] / 10


def tried_rates() -> list[float]:
    """From the lowest to the highest, each so many times the one before."""
    return np.geomspace(LOWEST, HIGHEST, TRIED).tolist()


def good_size(speed: Callable[[int], float], start: int) -> int:
    """The number of tokens of a batch: twice as many as long as they fit into memory and are learned faster by a tenth.

    speed  tokens a second with batches of so many; torch.OutOfMemoryError where they do not fit
    """
    size, best = start, speed(start)
    while True:
        try:
            faster = speed(2 * size)
        except torch.OutOfMemoryError:
            return size
        if faster < GAIN * best:
            return size
        size, best = 2 * size, faster


def tokens_a_second(model: nn.Module, loss: Step, batches: Batches, optimizer: Optimizer) -> float:
    """Of some updates; the first, which prepares much, is not counted."""
    with as_before(model):
        stepper, tokens, begun = optimizer(model), 0, 0.0
        for number, batch in enumerate(islice(_endless(batches), TIMED + 1)):
            if number == 1:
                begun = time.perf_counter()
            told = loss(model, batch)
            told.total.backward()
            stepper.step()
            stepper.zero_grad(set_to_none=True)
            tokens += told.count if number else 0
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return tokens / (time.perf_counter() - begun)


@contextmanager
def as_before(model: nn.Module) -> Iterator[None]:
    """What is done inside leaves no trace: weights, gradients, mode and generators are put back."""
    held = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    training, drawn, others = model.training, random.getstate(), np.random.get_state()
    with torch.random.fork_rng():
        model.train()
        try:
            yield
        finally:
            model.load_state_dict(held)
            model.zero_grad(set_to_none=True)
            model.train(training)
            random.setstate(drawn)
            np.random.set_state(others)


def _update(
    model: nn.Module, loss: Step, batch: Any, stepper: torch.optim.Optimizer, rate: float, norm: float
) -> float:
    told = loss(model, batch)
    told.total.backward()
    scale_gradients(model.parameters(), 1 / max(told.count, 1))
    if norm:
        clip(model.parameters(), norm)
    for settings in stepper.param_groups:
        settings["lr"] = rate * settings.get("scale", 1.0)
    stepper.step()
    stepper.zero_grad(set_to_none=True)
    return float(told.nll) / max(told.count, 1)


def _endless(batches: Batches) -> Iterator[Any]:
    return (batches.make(rows) for number in count() for rows in batches.epoch(number))
