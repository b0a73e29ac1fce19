"""Small tasks, and training on them. Seed, first weights and data are the same for every model of a seed."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from sublayer.nn import Mask
from sublayer.train.optim import clip, optimizer

IGNORED = -100


class Batch(NamedTuple):
    """Ids (B, T), the class of each token (B, T), IGNORED where none is asked, and what may be seen."""

    ids: Tensor
    classes: Tensor
    mask: Mask | None = None


Task = Callable[[int, Generator], Batch]
"""task(rows, generator): a fresh batch."""


class Learned(NamedTuple):
    """On held-out data: mean loss in nats, and the share of tokens that are right; the model as it is now."""

    loss: float
    accuracy: float
    model: nn.Module


def reverse(length: int, vocab: int = 16) -> Task:
    """Each token says which one stands at its mirror place."""

    def task(rows: int, generator: Generator) -> Batch:
        ids = torch.randint(vocab, (rows, length), generator=generator)
        return Batch(ids, ids.flip(1))

    return task


def shift(length: int, by: int = 3, vocab: int = 16) -> Task:
    """Each token says which one stands `by` places before it."""

    def task(rows: int, generator: Generator) -> Batch:
        ids = torch.randint(vocab, (rows, length), generator=generator)
        classes = ids.roll(by, 1)
        classes[:, :by] = IGNORED
        return Batch(ids, classes)

    return task


def recall(length: int, vocab: int = 16) -> Task:
    """Key and value, key and value, …; then one of the keys, which says its value. Keys are all different."""

    def task(rows: int, generator: Generator) -> Batch:
        keys = torch.rand(rows, vocab, generator=generator).argsort(1)[:, : length // 2]
        values = torch.randint(vocab, (rows, length // 2), generator=generator)
        pairs = torch.stack((keys, values + vocab), -1).flatten(1)
        asked = torch.randint(length // 2, (rows, 1), generator=generator)
        ids = torch.cat((pairs, keys.gather(1, asked) + 2 * vocab), 1)
        classes = torch.full_like(ids, IGNORED)
        classes[:, -1:] = values.gather(1, asked)
        return Batch(ids, classes)

    return task


def needle(length: int, vocab: int = 16) -> Task:
    """A marked token stands somewhere in the first half; the last token says which it is."""

    def task(rows: int, generator: Generator) -> Batch:
        ids = torch.randint(vocab, (rows, length), generator=generator)
        place = torch.randint(length // 2, (rows, 1), generator=generator)
        classes = torch.full_like(ids, IGNORED)
        classes[:, -1:] = ids.gather(1, place)
        return Batch(ids.scatter(1, place, ids.gather(1, place) + vocab), classes)

    return task


def learn(
    seed: int,
    make: Callable[[], nn.Module],
    task: Task,
    *,
    steps: int,
    rate: float = 2e-3,
    rows: int = 32,
    warmup: int = 20,
    tried: Task | None = None,
) -> Learned:
    """Adam, warm-up, then half a cosine to 0; gradients clipped at 1. Judged on 512 rows of `tried`, `task` by default.

    A model whose loss is no number any more is judged as one that knows nothing.
    """
    torch.manual_seed(seed)
    model = make()
    generator = torch.Generator().manual_seed(seed)
    held_out = (tried or task)(512, torch.Generator().manual_seed(seed + 1_000_003))
    steering = optimizer(model, "adam")
    for step in range(1, steps + 1):
        factor = min(1.0, step / warmup) if warmup else 1.0
        for group in steering.param_groups:
            group["lr"] = rate * factor * 0.5 * (1 + math.cos(math.pi * step / (steps + 1)))
        loss, _ = measure(model, task(rows, generator))
        if not loss.isfinite():
            break
        loss.backward()
        clip(model.parameters(), 1.0)
        steering.step()
        steering.zero_grad()
    with torch.no_grad():
        loss, right = measure(model.eval(), held_out)
    return Learned(float(loss), float(right), model) if loss.isfinite() else Learned(20.0, 0.0, model)


def measure(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Mean loss and share of right classes of the tokens that are asked."""
    asked = batch.classes != IGNORED
    scores, classes = model(batch.ids, batch.mask)[asked], batch.classes[asked]
    return F.cross_entropy(scores, classes), (scores.argmax(-1) == classes).float().mean()
