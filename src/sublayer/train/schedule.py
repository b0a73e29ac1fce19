"""Learning rates. A schedule is called as schedule(step) with step 1 for the first update; the rate that it gives
is the one that this update uses. A step may be fractional, where a run is measured by the clock."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class Schedule(Protocol):
    def __call__(self, step: float) -> float: ...


def _warming(step: float, warmup: int) -> float:
    return min(1.0, step / warmup) if warmup else 1.0


@dataclass(frozen=True)
class Constant:
    """The peak, after a linear warm-up."""

    peak: float
    warmup: int
    steps: int

    def __call__(self, step: float) -> float:
        return self.peak * _warming(step, self.warmup)


@dataclass(frozen=True)
class InverseSquareRoot:
    """Linear to the peak at `warmup`, then falling as 1 / √step. Vaswani et al. 2017, section 5.3, whose formula is
    the one with peak = `noam_peak(d_model, warmup)`. Without warm-up it falls from the first update."""

    peak: float
    warmup: int
    steps: int

    def __call__(self, step: float) -> float:
        start = max(self.warmup, 1)
        return self.peak * min(step / start, math.sqrt(start / step))


def noam_peak(d_model: int, warmup: int) -> float:
    """(d_model · warmup)^-½: the highest rate of the original schedule."""
    return (d_model * max(warmup, 1)) ** -0.5


@dataclass(frozen=True)
class Linear:
    """Linear to the peak at `warmup`, then linear to 0 just after the last step."""

    peak: float
    warmup: int
    steps: int

    def __call__(self, step: float) -> float:
        return self.peak * _warming(step, self.warmup) * (1 - _progress(step, self.warmup, self.steps))


@dataclass(frozen=True)
class Cosine:
    """Linear to the peak at `warmup`, then half a cosine to 0 just after the last step. Loshchilov and Hutter 2017."""

    peak: float
    warmup: int
    steps: int

    def __call__(self, step: float) -> float:
        fall = 0.5 * (1 + math.cos(math.pi * _progress(step, self.warmup, self.steps)))
        return self.peak * _warming(step, self.warmup) * fall


def _progress(step: float, warmup: int, steps: int) -> float:
    """0 up to the end of the warm-up, 1 just after the last step."""
    return min(1.0, max(0.0, (step - warmup) / max(steps + 1 - warmup, 1)))


SCHEDULES: dict[str, Callable[[float, int, int], Schedule]] = {
    "constant": Constant,
    "cosine": Cosine,
    "inverse_sqrt": InverseSquareRoot,
    "linear": Linear,
}
