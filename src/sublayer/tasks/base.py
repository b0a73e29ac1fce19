"""What every task gives back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alignment:
    """What each target word comes from.

    source, target  the words
    links           (source word, target word) by their numbers from 0, in the order of the target
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]

    def pharaoh(self) -> str:
        """`0-0 2-1`: target word 0 comes from source word 0, target word 1 from source word 2."""
        return " ".join(f"{s}-{t}" for s, t in self.links)

    def words(self) -> list[tuple[str, str]]:
        """The linked words themselves, source and target."""
        return [(self.source[s], self.target[t]) for s, t in self.links]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer. Of an empty line it is empty, with no tokens and a score of 0.

    score     what hypotheses are ranked by: log-probability under the length rule
    logp      sum of the log-probabilities of its tokens, EOS counted
    tokens    its tokens as they read, </s> at the end where it was reached
    token_logps  one a token
    finished  False where it was cut at the longest allowed length
    alignment  what its words come from, where that was asked for
    """

    text: str
    score: float
    logp: float
    tokens: tuple[str, ...]
    token_logps: tuple[float, ...]
    finished: bool
    alignment: Alignment | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that could come next, how likely it is, and the best answer that goes on with it."""

    token: str
    probability: float
    answer: Prediction


@dataclass(frozen=True, slots=True)
class Scored:
    """A given target under the model: log-probability in nats, EOS counted."""

    logp: float
    tokens: tuple[str, ...]
    token_logps: tuple[float, ...]
