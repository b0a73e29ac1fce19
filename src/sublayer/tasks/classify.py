"""Texts, or pairs of texts, to labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from sublayer.data.rows import Row
from sublayer.errors import DataError, listing, nearest
from sublayer.evaluate import Score, evaluate_labels, per_class
from sublayer.models.config import ModelConfig
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.base import Written
from sublayer.tasks.folder import write_task
from sublayer.tasks.texts import Ids, TextTask, Vocabulary
from sublayer.train.loss import Loss, binary_cross_entropy, cross_entropy, no_loss

Example = tuple[Ids, list[int]]


@dataclass(frozen=True, slots=True)
class Classified:
    """What a text is. Of an empty line nothing is said.

    labels  the likeliest one; where a text may have several, those of probability above ½, in the order of `scores`
    scores  the probability of every label, the likeliest first
    """

    labels: tuple[str, ...]
    scores: dict[str, float]


@dataclass(frozen=True)
class LabelSet:
    """The labels of a run, in the order of their logits.

    texts      how many texts a label is for: one, or a pair
    several    whether a text may have several labels, or none, each a question of its own
    separator  between them
    """

    names: tuple[str, ...]
    texts: int
    several: bool
    separator: str

    def read(self, cell: str) -> list[str]:
        return [label.strip() for label in cell.split(self.separator) if label.strip()] if self.several else [cell]


class Classify(TextTask):
    """An encoder with a head for classes."""

    metrics = ("accuracy", "micro_f1", "macro_f1", "loss", "per_class")

    def __init__(
        self,
        model: EncoderWithHead,
        config: ModelConfig,
        tokenizer: Vocabulary,
        labels: LabelSet,
        pool: str,
        activation: str | None = None,
        transform: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, config, tokenizer, transform)
        self.labels, self.pool, self.activation = labels, pool, activation

    def describe(self, folder: Path) -> None:
        about = {"labels": asdict(self.labels), "pool": self.pool, "activation": self.activation}
        write_task(folder, "classify", self.config, about | {"transform": self.transform})
        self.tokenizer.save(folder / "tokenizer.json")

    def sides(self) -> list[str]:
        return [*super().sides(), f"labels: {len(self.labels.names)}, {', '.join(self.labels.names)}"]

    def encode_rows(self, rows: Sequence[Row]) -> list[Example]:
        """Ids of the texts and of the labels. DataError naming each line that is too long or whose label is unknown."""
        texts = self.encode([row.cells[:-1] for row in rows])
        self.check(texts, [row.line for row in rows])
        known = {name: i for i, name in enumerate(self.labels.names)}
        right = [self.labels.read(row.cells[-1]) for row in rows]
        unknown = [
            f"line {row.line}: {label!r}. {nearest(label, known)}"
            for row, labels in zip(rows, right, strict=True)
            for label in labels
            if label not in known
        ]
        if unknown:
            raise DataError(listing("Labels that the model does not know:", unknown))
        return [(text, [known[label] for label in labels]) for text, labels in zip(texts, right, strict=True)]

    def predict(
        self, inputs: Iterable[str | Sequence[str]], *, window: int = 1024, first: int = 1
    ) -> Iterator[Classified]:
        """For each text, in order, what it is; of a pair of texts both are given, or one text with a tab between them.
        Streams, `window` texts at a time. DataError where a text is too long, or is one of a pair without the other: it
        names the line, counted from `first`."""
        stream = enumerate(inputs, first)
        while lines := list(islice(stream, window)):
            yield from self._window(lines)

    def _window(self, lines: list[tuple[int, str | Sequence[str]]]) -> list[Classified]:
        found = [Classified((), {}) for _ in lines]
        cells = [given.split("\t") if isinstance(given, str) else given for _, given in lines]
        full = [i for i, parts in enumerate(cells) if any(part.strip() for part in parts)]
        if wrong := [f"line {lines[i][0]}: {len(cells[i])}" for i in full if len(cells[i]) != self.labels.texts]:
            needed = "one text a line" if self.labels.texts == 1 else "two texts a line, a tab between them"
            raise DataError(listing(f"Needed: {needed}. What came:", wrong))
        texts = self.encode([cells[i] for i in full])
        self.check(texts, [lines[i][0] for i in full])
        for row, logits in self.outputs(texts):
            found[full[row]] = self._read(logits)
        return found

    def _read(self, logits: torch.Tensor) -> Classified:
        p = logits.sigmoid() if self.labels.several else logits.softmax(-1)
        order = p.argsort(descending=True, stable=True).tolist()
        scores = {self.labels.names[i]: float(p[i]) for i in order}
        several = tuple(label for label, score in scores.items() if score > 0.5)
        return Classified(several if self.labels.several else tuple(scores)[:1], scores)

    def write(self, lines: Iterable[str], how: Written, *, window: int = 1024) -> Iterator[str]:
        for number, found in enumerate(self.predict(lines, window=window, first=how.first), how.first):
            answer = self.labels.separator.join(found.labels)
            if how.as_json:
                yield json.dumps({"line": number, **asdict(found)}, ensure_ascii=False)
            elif how.nbest > 1:
                best = list(found.scores.items())[: how.nbest]
                yield from (f"{number}\t{score:.6f}\t{label}" for label, score in best or [("", 0.0)])
            elif how.scores:
                yield f"{max([found.scores[label] for label in found.labels], default=0.0):.6f}\t{answer}"
            else:
                yield answer

    def cost(self, logits: torch.Tensor, right: Sequence[Sequence[int]], smoothing: float = 0.0) -> Loss:
        """Of logits (B, C) for these labels."""
        if not self.labels.several:
            return cross_entropy(
                logits, torch.tensor([i for labels in right for i in labels]).to(logits.device), smoothing
            )
        targets = torch.zeros_like(logits)
        for row, labels in zip(targets, right, strict=True):
            row[labels] = 1
        return binary_cross_entropy(logits, targets)

    def evaluate(self, items: Sequence[Row], metrics: Sequence[str], *, bootstrap: int = 0) -> list[Score]:
        """`loss` is a text; `per_class` is the F1 of each label."""
        if not items:
            raise DataError("There is nothing to evaluate: 0 texts.")
        examples = self.encode_rows(items)
        given: list[Any] = [None] * len(items)
        total = no_loss()
        for row, logits in self.outputs([text for text, _ in examples]):
            given[row] = self._read(logits).labels
            total += self.cost(logits[None], [examples[row][1]])
        right = [[self.labels.names[i] for i in labels] for _, labels in examples]
        scores: list[Score] = []
        for name in metrics:
            if name == "loss":
                scores.append(Score("loss", float(total.mean), total.count, "texts", False, "loss|labels"))
            elif name == "per_class":
                scores += per_class(given, right)
            else:
                scores += evaluate_labels([name], given, right, bootstrap=bootstrap)
        return scores
