"""The door of `translate`: hypotheses for a text, token by token where search allows it, alignments and attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sublayer.serve.door import Event
from sublayer.serve.options import options_of
from sublayer.serve.writing import Asked, WritingDoor, writes
from sublayer.tasks.base import Prediction
from sublayer.tasks.search import Search
from sublayer.tasks.searching import decoding_of
from sublayer.text import Tokenizer


class TranslateDoor(WritingDoor):
    task = "translate"
    options = options_of(Search, alignments="which words of the text and of each answer belong together")

    @property
    def engine(self) -> str:  # type: ignore[override]
        return str(self.quick.engine.name)

    def tokenizer(self, side: str) -> Tokenizer:
        found: Tokenizer = self.slow.source if side == "text" else self.slow.target
        return found

    def predict(self, texts: Sequence[str], settings: Asked) -> Iterator[list[Prediction]]:
        found: Iterator[list[Prediction]] = self.quick.predict(
            texts, search=settings.search, alignments=settings.alignments, window=len(texts)
        )
        return found

    def write(self, texts: Sequence[str], search: Search) -> Iterator[tuple[int, Event | Prediction]]:
        read = [number for number, text in enumerate(texts) if text.strip()]
        yield from ((n, Prediction("", 0.0, 0.0, (), (), True)) for n in range(len(texts)) if n not in read)
        if read:
            ids = self.slow.source.encode_batch([texts[number] for number in read])
            for row, event in writes(self.quick, decoding_of(self.quick, ids), ids, search):
                yield read[row], event
