"""A decoding that follows rules, such as a least length or no repetitions."""

from typing import Protocol

import torch
from torch import Tensor

from sublayer.errors import ShapeError
from sublayer.generate.decoding import Decoding


class Rule(Protocol):
    """A change to log-probabilities that looks at nothing but what the same row has generated."""

    def __call__(self, logps: Tensor, written: Tensor, row: Tensor) -> Tensor:
        """The changed log-probabilities (N, V), in place or not.

        logps    (N, V) log-probabilities of the next token
        written  (N, n) what each row has generated so far, the prefix not counted
        row      (N,) the row of the batch, as the search began, from which each comes
        """


class Guided:
    """A decoding under rules, which are applied in the order given.

    The search follows the changed numbers and reports them. A rule that forbids leaves the other tokens their
    log-probabilities, so those are still the model's own.

    Rules that contradict each other can leave a row no token at all. Greedy search and sampling cut the text
    there; a beam drops it, and returns fewer hypotheses where none is left.
    """

    def __init__(self, decoding: Decoding, *rules: Rule) -> None:
        self.decoding = decoding
        self.rules = rules
        self.state: tuple[Tensor, Tensor] | None = None  # written and row, from the first step on

    def step(self, tokens: Tensor) -> Tensor:
        logps = self.decoding.step(tokens)
        if self.state is None:
            written, row = tokens[:, :0], torch.arange(len(tokens), device=tokens.device)
        else:
            written, row = torch.cat((self.state[0], tokens), 1), self.state[1]
        self.state = written, row
        for rule in self.rules:
            logps = rule(logps, written, row)
        return logps

    def select(self, rows: Tensor) -> None:
        self.decoding.select(rows)
        if self.state is not None:
            written, row = self.state
            self.state = written[rows], row[rows]


def one_a_row(what: str, given: int, written: Tensor) -> None:
    """Raise ShapeError if a rule brings numbers for more or fewer rows than the search begins with."""
    rows, n = written.shape
    if n == 0 and given != rows:
        raise ShapeError(f"{what} for {given} rows, but there are {rows} rows to generate. Give one a row.")
