"""The door of `complete`: how a text goes on, token by token where search allows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from sublayer.models.decoding import WindowedDecoding
from sublayer.serve.door import Event
from sublayer.serve.options import options_of
from sublayer.serve.writing import Asked, WritingDoor, writes
from sublayer.tasks.base import Prediction
from sublayer.tasks.search import Search
from sublayer.text import Tokenizer


class CompleteDoor(WritingDoor):
    task = "complete"
    options = options_of(Search, without=("replace_unknown",))

    def tokenizer(self, side: str) -> Tokenizer:
        found: Tokenizer = self.slow.target
        return found

    def predict(self, texts: Sequence[str], settings: Asked) -> Iterator[list[Prediction]]:
        found: Iterator[list[Prediction]] = self.quick.predict(texts, search=settings.search, window=len(texts))
        return found

    def write(self, texts: Sequence[str], search: Search) -> Iterator[tuple[int, Event | Prediction]]:
        """Prompts of one length are continued together, and each length takes a step in turn."""
        prompts = [self.quick.prompt(text) for text in texts]
        alike = [
            [n for n, ids in enumerate(prompts) if len(ids) == length] for length in sorted(set(map(len, prompts)))
        ]
        going = [self._continued(numbers, [prompts[n] for n in numbers], search) for numbers in alike]
        while going:
            for events in list(going):
                try:
                    yield next(events)
                except StopIteration:
                    going.remove(events)

    def _continued(
        self, numbers: Sequence[int], ids: list[list[int]], search: Search
    ) -> Iterator[tuple[int, Event | Prediction]]:
        decoding = WindowedDecoding(self.quick.model, self.quick.context)
        for row, event in writes(self.quick, decoding, ids, search, torch.tensor(ids, device=self.quick.device)):
            yield numbers[row], event
