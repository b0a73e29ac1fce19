"""Pairs of anything: sentences, words to phonemes, lemma and features to a form."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import torch

from sublayer.data.batch import PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.data.examples import Pair, group
from sublayer.errors import DataError, listing
from sublayer.evaluate import Score, evaluate_texts, perplexity
from sublayer.generate import Hypothesis
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.models.store import save_weights
from sublayer.tasks.base import Prediction, Scored
from sublayer.tasks.folder import write_task
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Engine, Native, prediction
from sublayer.tasks.teaching import logits, sizes
from sublayer.text import Tokenizer

WINDOW = 1024  # lines that are read before they are sorted by length
BATCH_TOKENS = 4096  # tokens of hypotheses that are decoded together

Batch = tuple[list[int], Iterable[list[Hypothesis]]]  # the places of its lines, and what is found for them


class Translate:
    """A model with its tokenizers and the way it searches.

    config          what the model was built from
    source, target  one and the same tokenizer where the vocabulary is shared
    engine          what finds the answers: the model itself, or what it was exported to
    """

    def __init__(
        self,
        model: EncoderDecoder,
        config: ModelConfig,
        source: Tokenizer,
        target: Tokenizer,
        search: Search,
        engine: Engine | None = None,
    ) -> None:
        self.model, self.config, self.source, self.target, self.search = model, config, source, target, search
        self.engine = Native() if engine is None else engine

    @property
    def tokenizer(self) -> Tokenizer:
        """Of the source."""
        return self.source

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def for_inference(self, dtype: torch.dtype | None = None, quantize: Literal["int8"] | None = None) -> Translate:
        """The same task with its model in inference form: it predicts faster, and can be neither trained nor saved."""
        model = self.model.for_inference(dtype, quantize)
        return Translate(model, self.config, self.source, self.target, self.search)

    def save_pretrained(self, folder: str | Path) -> None:
        """A folder that `sublayer.load` reads."""
        self.describe(Path(folder))
        save_weights(self.model, Path(folder) / "model.safetensors")

    def describe(self, folder: Path) -> None:
        """All of that folder but the weights."""
        write_task(folder, self.config, self.source, self.target, self.search)

    @property
    def limit(self) -> float:
        """How many tokens of a text the model can read or write, specials counted; infinite where positions grow."""
        return self.config.max_len if self.config.position.kind == "learned" else math.inf

    # -- training --------------------------------------------------------------------------------------------

    def encode_pairs(self, pairs: Sequence[Pair]) -> list[tuple[list[int], list[int]]]:
        """Token ids of both sides, without specials. DataError naming each line that is longer than the limit."""
        sources = self.source.encode_batch([pair.source for pair in pairs])
        targets = self.target.encode_batch([pair.target for pair in pairs])
        examples = list(zip(sources, targets, strict=True))
        long = [
            f"line {pair.line}: {longest} tokens with </s>"
            for pair, longest in zip(pairs, map(max, sizes(examples)), strict=True)
            if longest > self.limit
        ]
        if long:
            raise DataError(listing(f"Longer than the {self.limit:.0f} positions that the model learns:", long))
        return examples

    def batch(self, examples: Sequence[tuple[Sequence[int], Sequence[int]]]) -> PairBatch:
        sources, targets = zip(*examples, strict=True)
        return PairBatch.of(
            sources,
            targets,
            pad_ids=(self.source.pad, self.target.pad),
            bos=self.target.bos,
            eos=(self.source.eos, self.target.eos),
        ).to(self.device)

    # -- answers ---------------------------------------------------------------------------------------------

    def predict(
        self,
        inputs: Iterable[str],
        *,
        search: Search | None = None,
        window: int = WINDOW,
        ahead: int = 0,
        too_long: Callable[[str], None] | None = None,
    ) -> Iterator[list[Prediction]]:
        """For each line, in order, its answers, the best first. Streams, `window` lines at a time.

        An empty line has one empty answer. What a line gets does not depend on its neighbours.

        ahead     windows that are begun before the first is waited for: more than 0 for an engine of other processes
        too_long  is told of each line that is longer than the model can read, and its answer is empty; without it
                  such a line is a DataError
        """
        search, stream = search or self.search, enumerate(inputs, 1)
        begun: deque[tuple[int, list[Batch]]] = deque()
        while lines := list(islice(stream, window)):
            begun.append((len(lines), self._begin(lines, search, too_long or _refuse)))
            if len(begun) > ahead:
                yield from self._finish(*begun.popleft(), search)
        for number, batches in begun:
            yield from self._finish(number, batches, search)

    @torch.inference_mode()
    def _begin(self, lines: list[tuple[int, str]], search: Search, too_long: Callable[[str], None]) -> list[Batch]:
        full = [i for i, (_, line) in enumerate(lines) if line.strip()]
        ids = self.source.encode_batch([lines[i][1] for i in full])
        readable = []
        for i, tokens in zip(full, ids, strict=True):
            if len(tokens) < self.limit:
                readable.append((i, tokens))
            else:
                number, longest = lines[i][0], len(tokens) + 1
                too_long(f"line {number}: {longest} tokens with </s>, and the model reads {self.limit:.0f}")
        self.model.eval()
        lengths = [(len(tokens) + 1, 0) for _, tokens in readable]
        return [
            ([readable[row][0] for row in rows], self.engine.find(self, [readable[row][1] for row in rows], search))
            for rows in TokenBatches(lengths, BATCH_TOKENS // search.rows).in_order()
        ]

    def _finish(self, number: int, batches: list[Batch], search: Search) -> list[list[Prediction]]:
        answers = [[Prediction("", 0.0, 0.0, (), (), True)] for _ in range(number)]
        for places, found in batches:
            for i, hypotheses in zip(places, found, strict=True):
                answers[i] = [prediction(self.target, h, search) for h in hypotheses]
        return answers

    # -- given targets ---------------------------------------------------------------------------------------

    def score(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        """Teacher-forced log-probabilities of the targets, in order."""
        stream = iter(pairs)
        while window := list(islice(stream, WINDOW)):
            yield from self._scores(window)

    @torch.inference_mode()
    def _scores(self, pairs: list[Pair]) -> list[Scored]:
        examples = self.encode_pairs(pairs)
        scored: list[Scored | None] = [None] * len(pairs)
        self.model.eval()
        for rows in TokenBatches(sizes(examples), BATCH_TOKENS).in_order():
            batch = self.batch([examples[row] for row in rows])
            logp = logits(self.model, batch).float().log_softmax(-1)
            chosen = logp.gather(-1, batch.target_out[batch.target_keep][:, None])[:, 0]
            parts = chosen.split(batch.target_keep.sum(1).tolist())
            for row, part in zip(rows, parts, strict=True):
                pieces = (*(self.target.piece(i) for i in examples[row][1]), "</s>")
                scored[row] = Scored(float(part.sum()), pieces, tuple(part.tolist()))
        return [s for s in scored if s is not None]

    def evaluate(
        self,
        pairs: Sequence[Pair],
        metrics: Sequence[str],
        *,
        search: Search | None = None,
        bootstrap: int = 0,
    ) -> list[Score]:
        """Scores of the answers to the sources, every listed target of a source being right; loss and perplexity
        are a token, EOS counted."""
        if not pairs:
            raise DataError("There is nothing to evaluate: 0 pairs.")
        from_model = [name for name in metrics if name in ("loss", "perplexity")]
        scores = {s.name: s for s in self._likelihood(pairs)} if from_model else {}
        texts = [name for name in metrics if name not in scores]
        if texts:
            grouped = group(pairs)
            answers = [found[0].text for found in self.predict((source for source, _ in grouped), search=search)]
            for score in evaluate_texts(texts, answers, [right for _, right in grouped], bootstrap=bootstrap):
                scores[score.name] = score
        return [scores[name] for name in metrics]

    def _likelihood(self, pairs: Sequence[Pair]) -> list[Score]:
        total, count = 0.0, 0
        for scored in self.score(pairs):
            total, count = total - scored.logp, count + len(scored.token_logps)
        return [
            Score(name, value, count, "tokens", False, f"{name}|{self.target.kind} tokens with EOS")
            for name, value in (("loss", total / count), ("perplexity", perplexity(total, count)))
        ]


def _refuse(problem: str) -> None:
    raise DataError(f"{problem}. Cut the text, or train with sinusoidal positions or a larger model.max_len.")
