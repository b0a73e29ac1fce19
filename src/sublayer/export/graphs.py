"""The model's own search over a model that was exported as graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor

from sublayer.data.batch import pad
from sublayer.generate import Hypothesis
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Searchable, hypotheses

Graph = Callable[[list[Tensor]], list[Tensor]]


class Graphs(NamedTuple):
    """What `program.Encode` and `program.Step` compute, inputs and outputs in one list each.

    begin  the first step; go_on  one that continues from keys and values
    """

    encode: Graph
    begin: Graph
    go_on: Graph


class GraphEngine:
    """Answers from graphs: greedy and beam as the model itself has them."""

    def __init__(self, name: str, graphs: Graphs) -> None:
        self.name, self.graphs = name, graphs

    def find(self, task: Searchable, ids: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
        source, lengths = pad([[*row, task.source.eos] for row in ids], task.source.pad)
        return hypotheses(task, _Decoding(self.graphs, source, lengths), ids, search)


class _Decoding:
    def __init__(self, graphs: Graphs, source: Tensor, lengths: Tensor) -> None:
        self.graphs, self.lengths = graphs, lengths
        self.cross = graphs.encode([source, lengths])
        self.past: list[Tensor] = []

    def step(self, tokens: Tensor) -> Tensor:
        graph = self.graphs.go_on if self.past else self.graphs.begin
        logp, *self.past = graph([tokens, self.lengths, *self.cross, *self.past])
        return logp

    def select(self, rows: Tensor) -> None:
        self.lengths = self.lengths[rows]
        self.cross, self.past = ([x[rows] for x in held] for held in (self.cross, self.past))
