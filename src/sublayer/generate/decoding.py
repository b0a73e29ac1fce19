"""What search asks of a model, and what it gives back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from sublayer.errors import ConfigError, ShapeError, listing
from sublayer.generate.length import Length


class Decoding(Protocol):
    """Rows of text that grow together. A model's cache and memory stand behind it.

    A change to the log-probabilities is another ``Decoding`` around this one: see ``Without``.
    """

    def step(self, tokens: Tensor) -> Tensor:
        """Append tokens (N, n) to the N rows: the prefix at the first call, then one token a row.

        Returns the log-probabilities (N, V) of the token that comes next, in a tensor of their own:
        a decoding around this one may change it in place.
        """

    def select(self, rows: Tensor) -> None:
        """Go on with these rows (M,): some left out, reordered or repeated. M is at least 1."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One text that search found.

    tokens       what was generated, without the prefix and without EOS
    logp         sum of ``token_logps``: the log-probability of the tokens, and of EOS where it came
    score        ``logp`` under the length rule; the length counts EOS, never the prefix
    token_logps  one a generated token, EOS counted
    finished     True: ended with EOS. False: cut at the length limit, or where nothing may come any more
    """

    tokens: tuple[int, ...]
    logp: float
    score: float
    token_logps: tuple[float, ...]
    finished: bool


def hypothesis(tokens: list[int], logps: list[float], eos: int, length: Length) -> Hypothesis:
    """The generated tokens, with EOS if it came, as a ``Hypothesis``."""
    finished = tokens[-1:] == [eos]
    logp = sum(logps)
    return Hypothesis(
        tokens=tuple(tokens[:-1] if finished else tokens),
        logp=logp,
        score=length(logp, len(logps)) if logps else 0.0,
        token_logps=tuple(logps),
        finished=finished,
    )


class Without:
    """A decoding in which some tokens never come.

    The others keep their log-probabilities: scores stay those of the model.
    """

    def __init__(self, decoding: Decoding, never: Tensor) -> None:
        self.decoding = decoding
        self.never = never

    def step(self, tokens: Tensor) -> Tensor:
        return self.decoding.step(tokens).index_fill_(-1, self.never, -torch.inf)

    def select(self, rows: Tensor) -> None:
        self.decoding.select(rows)


def without(decoding: Decoding, never: Sequence[int], device: torch.device) -> Decoding:
    """The decoding with ``never`` taken out; the decoding itself where there is nothing to take out."""
    return Without(decoding, torch.tensor(never, device=device)) if never else decoding


def limits(max_len: Tensor | int, rows: int) -> list[int]:
    """How many tokens each row may generate, EOS counted."""
    given = torch.as_tensor(max_len)
    if given.shape not in {(), (rows,)}:
        raise ShapeError(
            f"max_len has shape {tuple(given.shape)}, but there are {rows} rows to generate. "
            f"Give one number for all rows, or one a row: shape ({rows},)."
        )
    longest = [int(n) for n in given.expand(rows).tolist()]
    problems = [f"row {row} has max_len={n}" for row, n in enumerate(longest) if n < 1]
    if problems:
        title = "max_len counts the generated tokens with EOS and must be at least 1:"
        raise ConfigError(listing(title, problems))
    return longest
