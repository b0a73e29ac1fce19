"""Blanks of any length, filled by a model that writes: what spans are left out, asked for and scored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, pairwise, repeat
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from sublayer.data.batch import PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.data.corrupt import SpanCorruption
from sublayer.data.text import Line
from sublayer.errors import ConfigError, DataError, listing, nearest
from sublayer.evaluate import Score
from sublayer.evaluate.blanks import Spans, of_spans
from sublayer.generate import Hypothesis
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks.base import Task, Written
from sublayer.tasks.blanks import MASK, Filled, Guess, parts, sentinels_of, span_behind, written
from sublayer.tasks.folder import write_task
from sublayer.tasks.long_texts import in_pieces
from sublayer.tasks.search import Search
from sublayer.tasks.searching import decoding_of, hypotheses
from sublayer.tasks.teaching import logits, logits_and_labels, translation_loss
from sublayer.tasks.written import told
from sublayer.text import AnyTokenizer
from sublayer.train.loss import Loss

SEED, BATCH_TOKENS = 1, 2048
Example = tuple[list[int], list[int]]
"""Source and target, without specials."""


class FillSpans(Task):
    """An encoder-decoder that reads a text with blanks and writes what stands in each. Raffel et al. 2020, 3.1.4.

    A blank is a sentinel, an id of its own for the first, the second, … of a text; what is written is each sentinel
    with its span behind it, and one sentinel more.

    source, target  one and the same vocabulary
    sentinels       ids, in their order
    rate, mean      how many tokens are left out, and how many of them a span has
    search          how spans are looked for
    """

    metrics = ("accuracy", "loss", "perplexity")
    spelled = MASK
    long = in_pieces
    model: EncoderDecoder

    def __init__(
        self,
        model: EncoderDecoder,
        config: ModelConfig,
        words: AnyTokenizer,
        rate: float = 0.15,
        mean: float = 3.0,
    ) -> None:
        self.model, self.config, self.source, self.target = model, config, words, words
        self.rate, self.mean, self.sentinels = rate, mean, sentinels_of(words)
        self.search = Search(beam=5, length_penalty=0.0)

    @property
    def tokenizer(self) -> AnyTokenizer:
        return self.source

    @property
    def limit(self) -> float:
        """How many tokens of a text the model can read or write, specials counted; infinite where positions grow."""
        return self.config.longest

    def for_inference(self, dtype: torch.dtype | None = None) -> FillSpans:
        same = FillSpans(self.model.for_inference(dtype), self.config, self.source, self.rate, self.mean)
        same.search = self.search
        return same

    def describe(self, folder: Path) -> None:
        write_task(folder, "fill", self.config, {"rate": self.rate, "span": self.mean})
        self.source.save(folder / "tokenizer.json")

    def sides(self) -> list[str]:
        return [told("text", self.source), f"blanks: up to {len(self.sentinels) - 1} a text, each of any length"]

    def inputs(self, text: str | None) -> tuple[Tensor, Tensor]:
        ids = list(range(4, min(10, len(self.source)))) if text is None else self.blanked(text)[:-1]
        batch = self.batch([(ids, [*self.sentinels[: 1 + self.blanks(ids)]])])
        return batch.source, batch.target_in

    # -- answers ---------------------------------------------------------------------------------------------

    def predict(self, inputs: Iterable[str], *, n: int = 5, window: int = 1024, first: int = 1) -> Iterator[Filled]:
        """For each text, in order, what is likeliest to stand where it says [MASK], all blanks together: of each blank
        what stands there in the n likeliest answers. Streams, `window` texts at a time; what a text gets does not
        depend on its neighbours. DataError, lines counted from `first`, for one too long or with too many blanks."""
        beam = self.search.beam if self.search.temperature else max(n, self.search.beam)
        search = self.search.model_copy(update={"beam": beam, "nbest": n})
        stream = enumerate(inputs, first)
        while asked := list(islice(stream, window)):
            texts = [self.blanked(text) for _, text in asked]
            self.check(texts, [line for line, _ in asked])
            found: list[list[Hypothesis]] = [[] for _ in asked]
            for row, answers in self._answers(texts, search):
                found[row] = answers
            yield from (self._filled(text, each) for (_, text), each in zip(asked, found, strict=True))

    def blanked(self, text: str) -> list[int]:
        """The ids of a text with blanks, </s> at its end."""
        joined = self.source.kind in ("bpe", "unigram")
        first, *others = self.source.encode_batch(parts(text, self.spelled, joined=joined))
        marks = chain(self.sentinels, repeat(self.sentinels[-1]))  # too many blanks are told by `check`
        return [*first, *(id for part in others for id in (next(marks), *part)), self.source.eos]

    def blanks(self, ids: Iterable[int]) -> int:
        """How many there are in a text."""
        return sum(id in self.sentinels for id in ids)

    def check(self, texts: Sequence[list[int]], lines: Sequence[int]) -> None:
        """DataError naming the line of each text that cannot be read."""
        problems = []
        for text, line in zip(texts, lines, strict=True):
            if len(text) > self.limit:
                problems.append(f"line {line}: {len(text)} tokens with </s>, and the model reads {self.limit:.0f}")
            if (blanks := self.blanks(text)) >= len(self.sentinels):
                problems.append(f"line {line}: {blanks} blanks, and a text may have {len(self.sentinels) - 1}")
        if problems:
            raise DataError(listing("These texts cannot be filled:", problems))

    @torch.inference_mode()
    def _answers(self, texts: Sequence[list[int]], search: Search) -> Iterator[tuple[int, list[Hypothesis]]]:
        """Of each text with blanks; others are left out."""
        self.model.eval()
        some = [row for row, ids in enumerate(texts) if self.blanks(ids)]
        for rows in TokenBatches([(len(texts[row]),) * 2 for row in some], BATCH_TOKENS).in_order():
            ids = [texts[some[row]][:-1] for row in rows]
            found = hypotheses(self, decoding_of(self, ids), ids, search)
            yield from zip((some[row] for row in rows), found, strict=True)

    def spoken(self, text: str) -> list[int]:
        """The ids of the likeliest answer, sentinels among them; of a text without blanks the sentinel that ends it."""
        found = [answers[0] for _, answers in self._answers([self.blanked(text)], self.search)]
        return [*found[0].tokens] if found else self.sentinels[:1]

    def piece(self, id: int) -> str:
        """One id to read: a sentinel as the blank with its number from 1."""
        return f"[{self.sentinels.index(id) + 1}]" if id in self.sentinels else self.source.piece(id)

    def _filled(self, text: str, answers: Sequence[Hypothesis]) -> Filled:
        pieces = text.split(self.spelled)
        blanks: list[tuple[Guess, ...]] = []
        for sentinel in self.sentinels[: len(pieces) - 1]:
            found: dict[str, Guess] = {}
            for ids, p in (span_behind(sentinel, answer, self.sentinels) for answer in answers):
                span = self.source.decode(ids) if self.source.kind == "char" else self.source.decode(ids).strip()
                found.setdefault(span, Guess(span, p))
            blanks.append(tuple(found.values()))
        best = [blank[0].token for blank in blanks]
        return Filled("".join(part for pair in zip(pieces, [*best, ""], strict=True) for part in pair), tuple(blanks))

    def write(self, lines: Iterable[str], how: Written, *, window: int = 1024) -> Iterator[str]:
        return written(partial(self.predict, lines, window=window, first=how.first), how)

    # -- given texts -----------------------------------------------------------------------------------------

    def encode_lines(self, lines: Sequence[Line]) -> list[list[int]]:
        """The ids of each line that says something, without specials, in pieces of what the model reads at once. What
        is left of one token alone cannot be both read and left out: it is dropped."""
        step = 1 << 62 if math.isinf(self.limit) else max(2, int(self.limit) - 2)
        texts = self.source.encode_batch([line.text for line in lines if line.text.strip()])
        pieces = [ids[i : i + step] for ids in texts for i in range(0, len(ids), step)]
        return [ids for ids in pieces if len(ids) > 1]

    def corrupted(self, ids: list[int], random: np.random.Generator) -> Example:
        """An example to learn from: other spans are left out with each draw."""
        return SpanCorruption(self.sentinels, self.rate, self.mean)(ids, random)

    def batch(self, examples: Sequence[Example]) -> PairBatch:
        (sources, targets), words = zip(*examples, strict=True), self.source
        pads, ends = (words.pad, words.pad), (words.eos, words.eos)
        return PairBatch.of(sources, targets, pad_ids=pads, bos=words.bos, eos=ends).to(self.device)

    def cost(self, model: EncoderDecoder, examples: Sequence[Example]) -> Loss:
        return translation_loss(model, self.batch(examples))

    def logits_and_labels(self, model: EncoderDecoder, examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
        """(N, V) for the N tokens that are written, and what they are (N,)."""
        return logits_and_labels(model, self.batch(examples))

    def evaluate(self, items: Sequence[Line], metrics: Sequence[str], *, bootstrap: int = 0) -> list[Score]:
        """Of spans that are left out at random, always the same ones: `accuracy`, % of those likeliest in every token,
        their ends included, after what really stands before; `loss` and `perplexity` of all that is written."""
        if unknown := [name for name in metrics if name not in self.metrics]:
            raise ConfigError(f"unknown metric {unknown[0]!r}. {nearest(unknown[0], self.metrics)}")
        if not (texts := self.encode_lines(items)):
            raise DataError("There is nothing to evaluate: no line has two tokens.")
        random = np.random.default_rng(SEED)
        about = f"spans:{self.rate:.0%} of {self.mean:g}|seed:{SEED}|{self.source.kind} tokens with sentinels and EOS"
        scores = of_spans(self._judged([self.corrupted(ids, random) for ids in texts]), about, bootstrap)
        return [scores[name] for name in metrics]

    @torch.inference_mode()
    def _judged(self, examples: Sequence[Example]) -> list[Spans]:
        self.model.eval()
        found = [Spans(0, 0, 0.0, 0)] * len(examples)
        for rows in TokenBatches([(len(s) + 1, len(t) + 1) for s, t in examples], BATCH_TOKENS).in_order():
            batch = self.batch([examples[row] for row in rows])
            logp = logits(self.model, batch).float().log_softmax(-1)
            nll, right = -logp.gather(-1, batch.labels[:, None])[:, 0], logp.argmax(-1) == batch.labels
            sizes = [len(examples[row][1]) + 1 for row in rows]
            for row, lost, hits in zip(rows, nll.split(sizes), right.split(sizes), strict=True):
                at = [i for i, id in enumerate(examples[row][1]) if id in self.sentinels]
                whole = [bool(hits[start + 1 : end + 1].all()) for start, end in pairwise(at)]
                found[row] = Spans(sum(whole), len(whole), float(lost.sum()), len(lost))
        return found
