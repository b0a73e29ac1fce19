"""What can be said of given targets: how likely they are, what their words come from. By one model or by several."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol

import torch
from torch import Tensor

from sublayer.data.bucket import TokenBatches
from sublayer.data.examples import Pair
from sublayer.errors import DataError, listing
from sublayer.tasks.aligning import Reader, align
from sublayer.tasks.base import Alignment, Scored
from sublayer.tasks.searching import Searchable
from sublayer.tasks.teaching import logits
from sublayer.text import AnyTokenizer

WINDOW = 1024  # lines that are read before they are sorted by length
BATCH_TOKENS = 4096  # tokens of hypotheses that are decoded together

Source = tuple[list[int], ...]
"""A line as each of the models reads it: token ids without specials."""


class Member(Searchable, Reader, Protocol):
    """One model of those that answer."""


class Given(ABC):
    """The mean of the probabilities of `members`:     p(token) = 1/M Σ p_m(token)

    target  the tokenizer of the targets, one for all members
    """

    target: AnyTokenizer

    @property
    @abstractmethod
    def members(self) -> Sequence[Member]: ...

    @property
    @abstractmethod
    def limit(self) -> float:
        """How many tokens of a text can be read or written, specials counted."""

    @property
    def device(self) -> torch.device:
        return next(self.members[0].model.parameters()).device

    def read(self, lines: Sequence[str]) -> list[Source]:
        return list(zip(*(member.source.encode_batch(lines) for member in self.members), strict=True))

    def problem(self, source: Source) -> str | None:
        """Why a source cannot be read, if so."""
        n = longest(source)
        return f"{n} tokens with </s>, and the model reads {self.limit:.0f}" if n > self.limit else None

    def long(self, items: Sequence[Pair]) -> list[str]:
        """Texts that are read in parts, or cut: none, since they are refused."""
        return []

    def score(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        """Teacher-forced log-probabilities of the targets, in order."""
        stream = iter(pairs)
        while window := list(islice(stream, WINDOW)):
            yield from self._scores(window)

    @torch.inference_mode()
    def _scores(self, pairs: list[Pair]) -> list[Scored]:
        examples = self.read_pairs(pairs)
        scored: dict[int, Scored] = {}
        self.eval()
        lengths = [(longest(source), len(target) + 1) for source, target in examples]
        for rows in TokenBatches(lengths, BATCH_TOKENS).in_order():
            targets = [examples[row][1] for row in rows]
            chosen = self._logps([examples[row][0] for row in rows], targets)
            for row, target, part in zip(rows, targets, chosen.split([len(t) + 1 for t in targets]), strict=True):
                pieces = (*(self.target.piece(i) for i in target), "</s>")
                scored[row] = Scored(float(part.sum()), pieces, tuple(part.tolist()))
        return [scored[row] for row in range(len(pairs))]

    def _logps(self, sources: Sequence[Source], targets: Sequence[list[int]]) -> Tensor:
        """Of every target token and EOS, target after target: log 1/M Σ p_m."""
        each = []
        for member, ids in zip(self.members, zip(*sources, strict=True), strict=True):
            batch = member.batch(list(zip(ids, targets, strict=True)))
            logp = logits(member.model, batch).float().log_softmax(-1)
            each.append(logp.gather(-1, batch.labels[:, None])[:, 0])
        return torch.stack(each).logsumexp(0) - math.log(len(each))

    def align(self, pairs: Iterable[Pair], *, layer: int | None = None) -> Iterator[Alignment]:
        """What the words of the targets come from, in order; of several models the first is asked.

        A word is a run without white space where tokens are parts of words (bpe, unigram, wordpiece), else a token. It
        comes from the source word that the decoder looks at most while it writes it, in the mean over the heads of one
        layer: `layer` counts from 0, or from the end with -1 as the last. By default it is the last but one, which
        Garg et al. 2019 found to align best.
        """
        reader, stream = self.members[0], iter(pairs)
        while window := list(islice(stream, WINDOW)):
            self.read_pairs(window)
            words = [(reader.source.words(pair.source), self.target.words(pair.target)) for pair in window]
            yield from align(reader, words, layer)

    def read_pairs(self, pairs: Sequence[Pair]) -> list[tuple[Source, list[int]]]:
        """Token ids of both sides, without specials. DataError naming each line that is longer than the limit."""
        sources = self.read([pair.source for pair in pairs])
        examples = list(zip(sources, self.target.encode_batch([pair.target for pair in pairs]), strict=True))
        lengths = [max(longest(source), len(target) + 1) for source, target in examples]
        if long := [
            f"line {pair.line}: {n} tokens with </s>" for pair, n in zip(pairs, lengths, strict=True) if n > self.limit
        ]:
            raise DataError(listing(f"Longer than the {self.limit:.0f} positions that the model learns:", long))
        return examples

    def eval(self) -> None:
        for member in self.members:
            member.model.eval()


def longest(source: Source) -> int:
    """Tokens of a line with EOS, for the model that cuts it into most."""
    return max(map(len, source)) + 1
