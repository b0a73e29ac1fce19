"""The rate and the size of batches for a recipe, found by trying."""

from typing import Any, NamedTuple

from sublayer.tasks.fit import around, optimizer_of
from sublayer.tasks.prepare import prepare
from sublayer.tasks.sections import AnyRecipe
from sublayer.tasks.tuning import tune
from sublayer.train.find import good_rate, good_size, losses_by_rate, tokens_a_second, tried_rates
from sublayer.train.plan import Batches
from sublayer.train.report import Listener

SMALLEST = 512  # tokens of a batch


class Settings(NamedTuple):
    batch_tokens: int
    learning_rate: float

    def __str__(self) -> str:
        return f"--set train.batch_tokens={self.batch_tokens} --set train.learning_rate={self.learning_rate:.2g}"


def find(recipe: AnyRecipe, listener: Listener) -> Settings:
    """Batches as large as they fit and pay, then the rate for batches of that size. Nothing is written."""
    ready = prepare(recipe, listener)
    job, task, train = ready.job, ready.task, ready.recipe.train
    assert train is not None
    tune(task.model, train)
    model, loss, optimizer = task.model, around(job.loss(task, train), train, task.device), optimizer_of(train)

    def batches(tokens: int) -> Batches:
        return job.batches(task, ready.examples, train.model_copy(update={"batch_tokens": tokens}))

    def speed(tokens: int) -> float:
        found = tokens_a_second(model, loss, batches(tokens), optimizer)
        listener.message(f"batches of {tokens:,} tokens: {found:,.0f} tokens/s")
        return found

    size = good_size(speed, SMALLEST)
    rates = tried_rates()
    losses = losses_by_rate(model, loss, batches(size), optimizer, rates, train.clip)
    lowest: Any = min(losses, default=None)
    listener.message(f"rates from {rates[0]:g} to {rates[max(len(losses) - 1, 0)]:.2g}: lowest loss {lowest}")
    return Settings(size, good_rate(rates, losses))
