"""What a metric measures and what is told of it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

References = Sequence[Sequence[str]]  # references[i]: every accepted text for item i


@dataclass(frozen=True, slots=True)
class Score:
    """One number with all that is needed to read it.

    value             in per cent, but for edit_distance (edits an item), loss (nats a token), perplexity
    count, unit       how many of what it was taken over, as 71,634 phonemes
    higher_is_better  its direction
    signature         how it was computed; two scores compare only where their signatures are equal
    interval          95 % bootstrap interval of the value, where it was asked for
    """

    name: str
    value: float
    count: int
    unit: str
    higher_is_better: bool
    signature: str
    interval: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, object]:
        """The same as a record for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        interval = f" (95 %: {self.interval[0]:.2f} to {self.interval[1]:.2f})" if self.interval else ""
        return f"{self.name} {self.value:.2f}{interval}, {self.count:,} {self.unit}, {self.signature}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A corpus score before it is summed: one row of statistics an item, and the score of summed rows."""

    statistics: Sequence[Sequence[float]]
    score: Callable[[Sequence[float]], float]
    count: int
    signature: str


def reference_count(references: References) -> str:
    """For a signature: the number of references an item, `var` where it varies."""
    numbers = {len(accepted) for accepted in references}
    return f"nrefs:{numbers.pop() if len(numbers) == 1 else 'var'}"
