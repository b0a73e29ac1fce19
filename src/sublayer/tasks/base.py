"""What every task gives back."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer. Of an empty line it is empty, with no tokens and a score of 0.

    score     what hypotheses are ranked by: log-probability under the length rule
    logp      sum of the log-probabilities of its tokens, EOS counted
    tokens    its tokens as they read, </s> at the end where it was reached
    token_logps  one a token
    finished  False where it was cut at the longest allowed length
    """

    text: str
    score: float
    logp: float
    tokens: tuple[str, ...]
    token_logps: tuple[float, ...]
    finished: bool


@dataclass(frozen=True, slots=True)
class Scored:
    """A given target under the model: log-probability in nats, EOS counted."""

    logp: float
    tokens: tuple[str, ...]
    token_logps: tuple[float, ...]
