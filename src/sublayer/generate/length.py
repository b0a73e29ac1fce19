"""How hypotheses of different length are compared.

A log-probability falls with every token, so plain sums favour short texts. ``n`` counts the generated
tokens with EOS, never the prefix or the source. One rule scores finished, running and cut hypotheses.
"""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from torch import Tensor

Number = TypeVar("Number", float, Tensor)


class Length(Protocol):
    def __call__(self, logp: Number, n: float | Tensor) -> Number:
        """The score of a hypothesis of n tokens."""

    def bound(self, logp: Number, n: float | Tensor, longest: float | Tensor) -> Number:
        """A score that no hypothesis can pass which has n tokens now and may grow to ``longest``."""


@dataclass(frozen=True, slots=True)
class GNMT:
    """score = logp / ((5 + n) / 6)^alpha     Wu et al. 2016, equation 14

    alpha 0 is the plain sum; larger values favour longer texts. Vaswani et al. 2017, section 6.1,
    translate with 0.6.
    """

    alpha: float = 0.6

    def __call__(self, logp: Number, n: float | Tensor) -> Number:
        return logp / ((5 + n) / 6) ** self.alpha  # type: ignore[return-value]

    def bound(self, logp: Number, n: float | Tensor, longest: float | Tensor) -> Number:
        return self(logp, longest if self.alpha > 0 else n + 1)


@dataclass(frozen=True, slots=True)
class Power:
    """score = logp / n^alpha

    alpha 1 is the mean a token, alpha 0 the plain sum.
    """

    alpha: float = 1.0

    def __call__(self, logp: Number, n: float | Tensor) -> Number:
        return logp / n**self.alpha  # type: ignore[return-value]

    def bound(self, logp: Number, n: float | Tensor, longest: float | Tensor) -> Number:
        return self(logp, longest if self.alpha > 0 else n + 1)


DEFAULT = GNMT()
