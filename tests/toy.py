"""A model small enough to enumerate: what comes next depends on the last two tokens."""

import itertools
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

EOS, A, B, START = 0, 1, 2, 3

# The bigram table T4: EOS, A, B after each of EOS (never asked), A, B and START.
T4 = ((1.0, 0.0, 0.0), (0.4, 0.1, 0.5), (0.8, 0.1, 0.1), (0.4, 0.5, 0.1))


def t4() -> Tensor:
    """T4 as a table (1, 4, 4, 4) of log-probabilities; START never comes."""
    table = torch.nn.functional.pad(torch.tensor(T4, dtype=torch.float64), (0, 1))
    return table.log().expand(1, 4, 4, 4)


def random_tables(texts: int, vocab: int, seed: int, spread: float = 2.0) -> Tensor:
    """One table (vocab, vocab, vocab) a text; the last token is START and never comes."""
    logits = torch.randn(texts, vocab, vocab, vocab, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    logits[..., -1] = -torch.inf
    return (logits * spread).log_softmax(-1)


class Markov:
    """A ``Decoding`` with state: which text a row belongs to, and its last two tokens.

    Each text has its own table (texts, before, last, next), so rows that are selected wrongly, or not at
    all, are seen in the log-probabilities.
    """

    def __init__(self, tables: Tensor) -> None:
        self.tables = tables
        self.text = torch.arange(len(tables))
        self.before = self.last = torch.full_like(self.text, tables.size(1) - 1)
        self.rows: list[int] = []  # the batch of each step

    def step(self, tokens: Tensor) -> Tensor:
        for token in tokens.unbind(1):
            self.before, self.last = self.last, token
        self.rows.append(len(tokens))
        return self.tables[self.text, self.before, self.last].float()

    def select(self, rows: Tensor) -> None:
        self.text, self.before, self.last = self.text[rows], self.before[rows], self.last[rows]

    @property
    def start(self) -> Tensor:
        return self.last[:, None]


def teacher_forced(table: Tensor, tokens: Sequence[int]) -> list[float]:
    """The log-probability of each token, given those before it."""
    start = table.size(0) - 1
    history = [start, start, *tokens]
    return [table[a, b, c].item() for a, b, c in zip(history, history[1:], history[2:], strict=False)]


def everything(table: Tensor, max_len: int) -> Iterator[tuple[tuple[int, ...], float, bool]]:
    """All texts of at most ``max_len`` tokens with EOS: tokens, log-probability, whether it ended."""
    words = range(1, table.size(0) - 1)
    for n in range(max_len):
        for tokens in itertools.product(words, repeat=n):
            yield tokens, sum(teacher_forced(table, [*tokens, EOS])), True
    for tokens in itertools.product(words, repeat=max_len):
        yield tokens, sum(teacher_forced(table, tokens)), False
