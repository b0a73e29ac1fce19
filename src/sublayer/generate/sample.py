"""Sampling: each token is drawn from the model's distribution, or from what the filters leave of it.

Every text has a stream of random numbers of its own: a hash of the seed, its key, its number among the
texts of its prefix, and the step. So it depends neither on the rest of the batch nor on what was drawn before.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sublayer.errors import ConfigError, ShapeError, listing
from sublayer.generate.decoding import Decoding, Hypothesis, limits
from sublayer.generate.filters import min_p, temperature, top_k, top_p
from sublayer.generate.length import DEFAULT, Length
from sublayer.generate.stream import collect, stream


@dataclass(frozen=True, slots=True)
class Draw:
    """The choice of ``stream`` that draws a token; the options are those of ``sample``."""

    seed: int
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    n: int = 1
    keys: Sequence[int] | None = None

    def __post_init__(self) -> None:
        rules = {
            f"temperature={self.temperature}: must be above 0; for the likeliest token use greedy.": self.temperature
            > 0,
            f"top_k={self.top_k}: must be at least 1, or 0 for all tokens.": self.top_k >= 0,
            f"top_p={self.top_p}: must be above 0 and at most 1, which is all tokens.": 0 < self.top_p <= 1,
            f"min_p={self.min_p}: must be between 0, which is all tokens, and 1.": 0 <= self.min_p <= 1,
            f"n={self.n}: ask for at least 1 text.": self.n >= 1,
        }
        if problems := [problem for problem, holds in rules.items() if not holds]:
            raise ConfigError(listing("These numbers do not fit sampling:", problems))

    def __call__(self, logps: Tensor, rows: Sequence[int], step: int) -> tuple[Tensor, Tensor]:
        numbers = [self.number(row, step) for row in rows]
        token = pick(self.shape(logps), torch.tensor(numbers, dtype=torch.float64, device=logps.device))
        return logps.gather(1, token[:, None])[:, 0], token

    def shape(self, logps: Tensor) -> Tensor:
        """Log-probabilities (N, V) to draw from, in fp64."""
        logps = temperature(logps.double(), self.temperature)
        logps = top_k(logps, self.top_k) if self.top_k else logps
        logps = top_p(logps, self.top_p) if self.top_p < 1 else logps
        return min_p(logps, self.min_p) if self.min_p else logps

    def number(self, row: int, step: int) -> float:
        """Uniform in [0, 1)."""
        prefix, copy = divmod(row, self.n)
        key = prefix if self.keys is None else self.keys[prefix]
        drawn = hashlib.blake2b(f"{self.seed} {key} {copy} {step}".encode(), digest_size=8).digest()
        return (int.from_bytes(drawn, "big") >> 11) / 2**53


def pick(logps: Tensor, numbers: Tensor) -> Tensor:
    """The token (N,) in whose share of [0, 1) each number (N,) falls; the shares stand in the order of the ids."""
    shares = logps.exp().cumsum(-1)
    at = torch.searchsorted(shares, numbers[:, None] * shares[:, -1:], right=True)[:, 0]
    return at.clamp(max=logps.size(-1) - 1)  # passes the end only where no token may come


class Copies:
    """A decoding that reads each prefix once and continues it n times."""

    def __init__(self, decoding: Decoding, n: int) -> None:
        self.decoding = decoding
        self.n = n
        self.read = False

    def step(self, tokens: Tensor) -> Tensor:
        if self.read:
            return self.decoding.step(tokens)
        self.read = True
        logps = self.decoding.step(tokens[:: self.n])
        rows = torch.arange(len(logps), device=tokens.device).repeat_interleave(self.n)
        self.decoding.select(rows)
        return logps[rows]

    def select(self, rows: Tensor) -> None:
        self.decoding.select(rows)


def sample(
    decoding: Decoding,
    start: Tensor,
    *,
    eos: int,
    max_len: Tensor | int,
    seed: int,
    n: int = 1,
    keys: Sequence[int] | None = None,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    length: Length = DEFAULT,
    never: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    """``n`` texts for each prefix, drawn token by token until EOS or the length limit.

    start        (B, n) prefixes, BOS included; all of one length
    max_len      tokens to generate at most, EOS counted: one number, or one a row (B,)
    seed         another seed, other texts
    keys         B numbers that tell the prefixes' random streams apart, such as line numbers; 0 to B - 1 by
                 default. Equal keys share a stream
    temperature  p^(1/temperature); then, each on what the one before has left and normalised again:
    top_k        the k likeliest tokens; 0 for all
    top_p        the likeliest tokens that have probability p together; 1 for all
    min_p        the tokens at least p times as likely as the likeliest; 0 for all
    length       gives the hypotheses their ``score``; the tokens do not depend on it
    never        tokens that are not to come, such as padding and BOS

    Returns the texts in the order they were drawn, equal ones included. Their log-probabilities are those of the
    decoding, before temperature and filters. Raises ConfigError or ShapeError for numbers that cannot be.
    """
    if keys is not None and len(keys) != len(start):
        raise ShapeError(f"keys has {len(keys)} numbers, but there are {len(start)} rows. Give one a row.")
    draw = Draw(seed, temperature, top_k, top_p, min_p, n, keys)
    longest = torch.tensor(limits(max_len, len(start))).repeat_interleave(n)
    copies = Copies(decoding, n) if n > 1 else decoding
    begun = start.repeat_interleave(n, 0)
    texts = collect(stream(copies, begun, eos=eos, max_len=longest, choose=draw, never=never), len(begun), eos, length)
    return [texts[i : i + n] for i in range(0, len(texts), n)]
