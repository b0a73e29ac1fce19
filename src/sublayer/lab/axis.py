"""From values to places on a chart."""

import math
from collections.abc import Sequence


class Axis:
    """Numbers to pixels, with its ticks."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, log: bool, zero: bool = False) -> None:
        positive = [value for value in values if value > 0]
        self.log = log and bool(positive)
        self.start, self.end = start, end
        if self.log:
            self.floor = max(min(positive), max(positive) * 1e-12)
            self.low, self.high = math.log10(self.floor), math.log10(max(positive))
        else:
            self.low, self.high = min(values), max(values)
            if zero:
                self.low, self.high = min(self.low, 0.0), max(self.high, 0.0)
        if self.high - self.low < 1e-9:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        room = 0.04 * (self.high - self.low)
        self.low -= 0.0 if zero and not self.log and self.low == 0 else room
        self.high += 0.0 if zero and not self.log and self.high == 0 else room

    def __call__(self, value: float) -> float:
        """What is 0 or less stands at the lower end of a logarithmic axis."""
        if self.log:
            value = math.log10(value) if value > 0 else self.low
        value = min(max(value, self.low), self.high)
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, places: Sequence[float] = ()) -> list[tuple[float, str]]:
        """At the places themselves, where they are few and stand apart; else at round numbers."""
        few = sorted(set(places))
        if 1 < len(few) <= 8 and all(abs(self(b) - self(a)) >= 40 for a, b in zip(few, few[1:], strict=False)):
            return [(place, _plain(place)) for place in few]
        if not self.log:
            step = _step((self.high - self.low) / 5)
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            return [(i * step, _plain(i * step)) for i in range(first, last + 1)]
        first, last = math.ceil(self.low), math.floor(self.high)
        if last - first < 2:
            tens = (10.0**power * digit for power in range(first - 1, last + 1) for digit in (1, 2, 5))
            return [(x, _plain(x)) for x in tens if self.low <= math.log10(x) <= self.high]
        every = math.ceil((last - first) / 6)
        return [(10.0**power, _power(power)) for power in range(first, last + 1, every)]


def _step(least: float) -> float:
    """The next of 1, 2, 5, 10, 20, …"""
    scale = 10.0 ** math.floor(math.log10(least))
    return scale * next(digit for digit in (1, 2, 5, 10) if digit * scale >= least * 0.999)


def _plain(value: float) -> str:
    return f"{value:.4g}" if 1e-4 <= abs(value) < 1e6 or value == 0 else f"{value:.0e}"


def _power(power: int) -> str:
    if -3 <= power <= 4:
        return f"{10.0**power:g}"
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}"
