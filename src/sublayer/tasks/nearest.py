"""The nearest of many texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice

import torch
import torch.nn.functional as F

from sublayer.errors import DataError
from sublayer.tasks.base import Written
from sublayer.tasks.embed import Embed, Tell


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A text, its line counted from 1, and the cosine of its vector with that of what was asked."""

    line: int
    score: float
    text: str


class Nearest:
    """Texts with their vectors, to be searched by what they say. Every one is compared: the search is exact.

    task       what makes vectors of them and of what is asked
    texts      of which empty ones are never found
    cut, tell  as in `Embed.predict`, of them and of what is asked
    """

    def __init__(self, task: Embed, texts: Iterable[str], *, cut: bool | None = None, tell: Tell | None = None) -> None:
        self.predict = partial(task.predict, cut=cut, tell=tell)
        every = list(texts)
        kept = [(line, text) for line, text in enumerate(every, 1) if text.strip()]
        if not kept:
            raise DataError("There is nothing to search in: no text, or only empty ones.")
        self.lines, self.texts = zip(*kept, strict=True)
        there = None if tell is None else lambda text: tell(f"of the texts that are searched, {text}")
        found = torch.stack(list(self.predict(every, tell=there)))
        self.vectors = F.normalize(found[torch.tensor(self.lines) - 1], dim=-1)

    def search(
        self, inputs: Iterable[str], n: int = 1, *, window: int = 1024, first: int = 1
    ) -> Iterator[list[Neighbour]]:
        """For each text, in order, the n nearest, the nearest first, and of equally near ones the first; none for an
        empty text. Streams. Lines are told as counted from `first`."""
        stream = iter(inputs)
        while asked := list(islice(stream, window)):
            vectors = F.normalize(torch.stack(list(self.predict(asked, first=first))), dim=-1)
            first += len(asked)
            for text, cosines in zip(asked, vectors @ self.vectors.T, strict=True):
                best = cosines.argsort(descending=True, stable=True)[:n] if text.strip() else ()
                yield [Neighbour(self.lines[i], float(cosines[i]), self.texts[i]) for i in map(int, best)]

    def write(self, lines: Iterable[str], how: Written, *, window: int = 1024) -> Iterator[str]:
        """The lines of `sublayer predict --nearest`: the nearest text, or several with number and cosine."""
        each_of = self.search(lines, how.nbest, window=window, first=how.first)
        for number, found in enumerate(each_of, how.first):
            if how.as_json:
                yield json.dumps({"line": number, "nearest": [asdict(each) for each in found]}, ensure_ascii=False)
                continue
            for each in found or [Neighbour(0, 0.0, "")]:
                before = [str(number)] if how.nbest > 1 else []
                before += [f"{each.score:.6f}"] if how.nbest > 1 or how.scores else []
                yield "\t".join([*before, each.text])
