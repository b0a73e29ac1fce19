"""Texts to vectors: what is said alike lies close."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from sublayer.data.rows import Row
from sublayer.errors import ConfigError
from sublayer.evaluate import Score
from sublayer.models.config import ModelConfig
from sublayer.models.heads import EncoderWithHead, SentenceVector
from sublayer.tasks.base import Written
from sublayer.tasks.folder import write_task
from sublayer.tasks.long_texts import Reading
from sublayer.tasks.pairs import of_partners, of_scores, possible, scores_of
from sublayer.tasks.texts import TextTask, Vocabulary

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Vectors:
    """How texts become vectors.

    pool       of the states of a window: mean, max, first
    normalize  to length 1
    cut        whether a text that is too long is cut, and not read in windows
    scale      what cosines are multiplied by before a softmax, where it is learned from pairs without scores
    lowest, highest  scores of pairs that are unlike and alike; None where it was learned from pairs without scores
    """

    pool: str = "mean"
    normalize: bool = True
    cut: bool = False
    scale: float = 20.0
    lowest: float | None = None
    highest: float | None = None

    def scaled(self, score: float) -> float | None:
        """From 0 to 1; None where no scores were learned."""
        if self.lowest is None or self.highest is None:
            return None
        return (score - self.lowest) / (self.highest - self.lowest)

    def head(self, config: ModelConfig) -> SentenceVector:
        return SentenceVector(config.d_model, pool=self.pool, normalize=self.normalize)


class Embed(TextTask):
    """An encoder and how its states become one vector a text.

    longest  tokens of a window, specials counted, where the model was trained on shorter texts than it can read
    """

    model: EncoderWithHead

    def __init__(
        self,
        model: EncoderWithHead,
        config: ModelConfig,
        tokenizer: Vocabulary,
        vectors: Vectors,
        longest: int | None = None,
    ) -> None:
        super().__init__(model, config, tokenizer)
        self.vectors, self.longest = vectors, longest
        scored = vectors.highest is not None
        self.metrics = ("spearman", "pearson") if scored else ("retrieval",)  # type: ignore[misc]

    @property
    def limit(self) -> float:
        return min(super().limit, self.longest or super().limit)

    def describe(self, folder: Path) -> None:
        write_task(folder, "embed", self.config, {"vectors": asdict(self.vectors), "longest": self.longest})
        self.tokenizer.save(folder / "tokenizer.json")

    def sides(self) -> list[str]:
        length = "of length 1" if self.vectors.normalize else "of any length"
        return [
            *super().sides(),
            f"vectors: {self.config.d_model} numbers, {length}",
        ]

    # -- vectors ---------------------------------------------------------------------------------------------

    def predict(
        self,
        inputs: Iterable[str],
        *,
        window: int = 1024,
        cut: bool | None = None,
        tell: Tell | None = None,
        first: int = 1,
    ) -> Iterator[Tensor]:
        """For each text, in order, its vector (D,). Streams, `window` texts at a time.

        A text that is longer than the model reads goes through windows that overlap by half; its vector is the mean of
        theirs, each weighed by the tokens that it answers for, at length 1 again where vectors are. An empty text has
        the zero vector, which is like nothing. What a text gets does not depend on its neighbours.

        cut   read no more than the beginning of such a text; by default as the model was made
        tell  is told of each such text: its line, counted from `first`, its tokens, and what was done
        """
        for vector, _ in self._vectors(inputs, window, cut, tell, first):
            yield vector

    def _vectors(
        self, inputs: Iterable[str], window: int, cut: bool | None, tell: Tell | None, first: int
    ) -> Iterator[tuple[Tensor, Reading]]:
        stream = enumerate(inputs, first)
        while lines := list(islice(stream, window)):
            read = self.readings([text for _, text in lines], self.vectors.cut if cut is None else cut)
            for (line, _), reading in zip(lines, read, strict=True):
                if tell is not None and reading.is_long:
                    tell(f"line {line}: {reading}")
            yield from zip(self._embedded(read), read, strict=True)

    def readings(self, texts: Sequence[str], cut: bool) -> list[Reading]:
        flat: list[Any] = list(self.tokenizer.encode_batch(texts))
        return [
            Reading.of(ids if text.strip() else None, self.around(), self.limit, cut)
            for text, ids in zip(texts, flat, strict=True)
        ]

    def _embedded(self, readings: Sequence[Reading]) -> Iterator[Tensor]:
        windows = [ids for reading in readings for ids in reading.windows]
        vectors = torch.zeros(len(windows), self.config.d_model)
        for row, vector in self.outputs(windows):
            vectors[row] = vector
        yield from self._joined(vectors, readings).unbind()

    def _joined(self, vectors: Tensor, readings: Sequence[Reading]) -> Tensor:
        """(B, D) from the vectors of all windows (W, D)."""
        if len(vectors) == len(readings) and all(len(reading.windows) == 1 for reading in readings):
            return vectors
        text = torch.tensor([i for i, reading in enumerate(readings) for _ in reading.windows], dtype=torch.long)
        share = torch.tensor([w / sum(reading.weights) for reading in readings for w in reading.weights])
        text, share = text.to(vectors.device), share.to(vectors)
        joined = vectors.new_zeros(len(readings), vectors.size(1)).index_add(0, text, vectors * share[:, None])
        return F.normalize(joined, dim=-1) if self.vectors.normalize else joined

    def embedded(self, model: EncoderWithHead, readings: Sequence[Reading]) -> Tensor:
        """(B, D) with its graph, as training asks for it."""
        windows = [ids for reading in readings for ids in reading.windows]
        order = sorted(range(len(windows)), key=lambda i: len(windows[i]))  # alike side by side, where they are packed
        batch = self.batch([windows[i] for i in order])
        vectors = model(*batch.inputs).float()
        back = torch.tensor(order, device=vectors.device).argsort()
        return self._joined(vectors[back], readings)

    def write(
        self,
        lines: Iterable[str],
        how: Written,
        *,
        window: int = 1024,
        cut: bool | None = None,
        tell: Tell | None = None,
    ) -> Iterator[str]:
        """The numbers of a vector between tabs; of an empty line an empty line."""
        if how.nbest > 1 or how.scores:
            raise ConfigError("A text has one vector: leave out --nbest and --scores, or name texts with --nearest.")
        found = self._vectors(lines, window, cut, tell, how.first)
        for number, (vector, read) in enumerate(found, how.first):
            numbers = list(map(str, vector.numpy())) if read.windows else []  # the shortest that read back the same
            if how.as_json:
                about = {"tokens": read.tokens, "windows": len(read.windows), "left_out": read.left_out}
                yield json.dumps({"line": number, **about, "vector": list(map(float, numbers))})
            else:
                yield "\t".join(numbers)

    def encode_pairs(self, rows: Sequence[Row]) -> list[tuple[Reading, Reading, float | None]]:
        """Both texts of each row, and its score where it has one, from 0 to 1 within the scores that were learned."""
        both = self.readings([cell for row in rows for cell in row.cells[:2]], self.vectors.cut)
        scored = len(rows[0].cells) == 3
        scores = [self.vectors.scaled(score) for score in scores_of(rows)] if scored else [None] * len(rows)
        return list(zip(both[::2], both[1::2], scores, strict=True))

    def long(self, items: Sequence[Row]) -> list[str]:
        if math.isinf(self.limit):
            return []
        cells = [(row.line, cell) for row in items for cell in row.cells[:2]]
        read = self.readings([cell for _, cell in cells], self.vectors.cut)
        return [f"line {line}: {each}" for (line, _), each in zip(cells, read, strict=True) if each.is_long]

    def evaluate(self, items: Sequence[Row], metrics: Sequence[str], *, bootstrap: int = 0) -> list[Score]:
        """Of pairs with a score `spearman`, `pearson` and `loss`, of pairs without one `retrieval` and `loss`."""
        possible(items, metrics)
        vectors = F.normalize(torch.stack(list(self.predict(cell for row in items for cell in row.cells[:2]))), dim=-1)
        first, second = vectors[::2], vectors[1::2]
        if len(items[0].cells) == 3:
            return of_scores((first * second).sum(-1).tolist(), items, metrics, self.vectors.scaled, bootstrap)
        return of_partners(first, second, items, metrics, self.vectors.scale, bootstrap)
