"""Pairs of anything: sentences, words to phonemes, lemma and features to a form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from sublayer.data.batch import PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.data.examples import Pair, group
from sublayer.errors import DataError, listing
from sublayer.evaluate import Score, evaluate_texts
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks.base import Prediction, Scored, Task, Written
from sublayer.tasks.folder import write_task
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Engine, Native
from sublayer.tasks.teaching import likelihood, logits, sizes
from sublayer.tasks.written import told, translations
from sublayer.text import Tokenizer

WINDOW = 1024  # lines that are read before they are sorted by length
BATCH_TOKENS = 4096  # tokens of hypotheses that are decoded together


class Translate(Task):
    """A model with its tokenizers and the way it searches.

    config          what the model was built from
    source, target  one and the same tokenizer where the vocabulary is shared
    engine          what finds the answers: the model itself, or what it was exported to
    """

    metrics = ("loss", "perplexity")

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

    def for_inference(self, dtype: torch.dtype | None = None) -> Translate:
        return Translate(self.model.for_inference(dtype), self.config, self.source, self.target, self.search)

    def describe(self, folder: Path) -> None:
        shared = self.target is self.source
        about = {"shared": shared, "search": self.search.model_dump(mode="json")}
        write_task(folder, "translate", self.config, about)
        self.source.save(folder / "tokenizer.json")
        if not shared:
            self.target.save(folder / "target_tokenizer.json")

    @property
    def limit(self) -> float:
        """How many tokens of a text the model can read or write, specials counted; infinite where positions grow."""
        return self.config.max_len if self.config.position.kind == "learned" else math.inf

    def sides(self) -> list[str]:
        return [told("source", self.source), told("target", self.target)]

    def inputs(self, text: str | None) -> tuple[Tensor, Tensor]:
        if text is None:
            example = list(range(4, min(10, len(self.source)))), list(range(4, min(9, len(self.target))))
        else:
            (example,) = self.encode_pairs([Pair(text, next(self.predict([text]))[0].text, 1)])
        batch = self.batch([example])
        return batch.source, batch.target_in

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
        too_long: Callable[[str], None] | None = None,
    ) -> Iterator[list[Prediction]]:
        """For each line, in order, its answers, the best first. Streams, `window` lines at a time.

        An empty line has one empty answer. What a line gets does not depend on its neighbours.

        too_long  is told of each line that is longer than the model can read, and its answer is empty; without it
                  such a line is a DataError
        """
        search = search or self.search
        stream = enumerate(inputs, 1)
        while lines := list(islice(stream, window)):
            yield from self._window(lines, search, too_long or _refuse)

    def write(self, lines: Iterable[str], how: Written, *, window: int = WINDOW) -> Iterator[str]:
        return translations(self, lines, how, window)

    @torch.inference_mode()
    def _window(
        self, lines: list[tuple[int, str]], search: Search, too_long: Callable[[str], None]
    ) -> list[list[Prediction]]:
        answers = [[Prediction("", 0.0, 0.0, (), (), True)] for _ in lines]
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
        for rows in TokenBatches(lengths, BATCH_TOKENS // search.rows).in_order():
            found = self.engine.find(self, [readable[row][1] for row in rows], search)
            for row, hypotheses in zip(rows, found, strict=True):
                answers[readable[row][0]] = [Prediction.of(h, self.target, search.stop_strings) for h in hypotheses]
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
        bootstrap: int = 0,
        search: Search | None = None,
    ) -> list[Score]:
        """Scores of the answers to the sources, every listed target of a source being right; loss and perplexity
        are a token, EOS counted."""
        if not pairs:
            raise DataError("There is nothing to evaluate: 0 pairs.")
        from_model = [name for name in metrics if name in ("loss", "perplexity")]
        scores = {s.name: s for s in likelihood(self.score(pairs), self.target.kind)} if from_model else {}
        texts = [name for name in metrics if name not in scores]
        if texts:
            grouped = group(pairs)
            answers = [found[0].text for found in self.predict((source for source, _ in grouped), search=search)]
            for score in evaluate_texts(texts, answers, [right for _, right in grouped], bootstrap=bootstrap):
                scores[score.name] = score
        return [scores[name] for name in metrics]


def _refuse(problem: str) -> None:
    raise DataError(f"{problem}. Cut the text, or train with sinusoidal positions or a larger model.max_len.")
