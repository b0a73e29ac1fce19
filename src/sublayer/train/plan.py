"""What the loop is given to go by."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from sublayer.train.state import Position


class Batches(Protocol):
    """Training data as the loop sees it."""

    def epoch(self, number: int) -> Iterable[Any]:
        """What to make the batches of this epoch from, in order: the same for the same number."""

    def make(self, rows: Any) -> Any:
        """A batch, ready for the loss."""


@dataclass(frozen=True)
class Watch:
    """Which metric decides what is best, and how many validations without a better one end the run (0: none do)."""

    metric: str = "loss"
    higher_is_better: bool = False
    patience: int = 0

    def better(self, new: float, best: float | None) -> bool:
        return best is None or (new > best if self.higher_is_better else new < best)


@dataclass(frozen=True)
class Limits:
    """When things happen, in updates; `minutes` ends a run by the clock (0: no limit) and bends its schedule so
    that the rate has come down by then."""

    steps: int
    minutes: float = 0.0
    accumulate: int = 1
    clip: float = 1.0
    log_every: int = 50
    validate_every: int = 500
    save_every: int = 500
    keep: int = 1

    def by_clock(self, at: Position) -> float:
        """The part of the time that is over; 0 where there is no limit."""
        return at.seconds / (60 * self.minutes) if self.minutes else 0.0

    def done(self, at: Position) -> float:
        """The part of the run that is over, by its updates or by the clock."""
        return max(at.step / self.steps, self.by_clock(at))

    def effective_step(self, at: Position) -> float:
        """The updates so far, or further on where the clock runs ahead of them."""
        return max(float(at.step - at.skipped), self.by_clock(at) * self.steps)
