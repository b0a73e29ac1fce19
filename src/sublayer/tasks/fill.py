"""Blanks in texts, filled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sublayer.data.bucket import TokenBatches
from sublayer.data.corrupt import Masking, chosen
from sublayer.data.text import Line
from sublayer.errors import ConfigError, DataError, nearest
from sublayer.evaluate import FILL_METRICS, Score
from sublayer.evaluate.blanks import Blanks, of_blanks, pseudo
from sublayer.models.config import ModelConfig
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.base import Written
from sublayer.tasks.blanks import MASK, Filled, Guess, parts, written
from sublayer.tasks.folder import write_task
from sublayer.tasks.long_texts import in_pieces
from sublayer.tasks.texts import BATCH_TOKENS, Ids, TextTask
from sublayer.text import PretrainedTokenizer, Tokenizer
from sublayer.train.loss import Loss, cross_entropy

SEED = 1

Blanked = tuple[Ids, list[int], list[int]]
"""What is read, with specials; where the tokens stand that are to be guessed; which they are."""


class Fill(TextTask):
    """An encoder with a head that guesses tokens. Devlin et al. 2019, section 3.1.

    A vocabulary of our own has no mask: its id is the one behind the last.

    head  options of the head, beside what the config says
    """

    metrics = ("accuracy", "loss", "perplexity")
    tokenizer: Tokenizer | PretrainedTokenizer
    long = in_pieces

    def __init__(
        self,
        model: EncoderWithHead,
        config: ModelConfig,
        tokenizer: Tokenizer | PretrainedTokenizer,
        head: dict[str, Any] | None = None,
        rate: float = 0.15,
    ) -> None:
        super().__init__(model, config, tokenizer)
        self.head, self.rate = head or {}, rate
        if isinstance(tokenizer, PretrainedTokenizer):
            if tokenizer.mask is None:
                raise ConfigError("The vocabulary has no mask, so nothing can be left out: name one of BERT's kind.")
            self.mask, self.spelled, self.words = tokenizer.mask, tokenizer.specials["mask"], tokenizer.ordinary
        else:
            self.mask, self.spelled, self.words = len(tokenizer), MASK, list(range(4, len(tokenizer)))

    def describe(self, folder: Path) -> None:
        write_task(folder, "fill", self.config, {"head": self.head, "rate": self.rate})
        self.tokenizer.save(folder / "tokenizer.json")

    @property
    def masking(self) -> Masking:
        return Masking(self.mask, self.words, self.rate)

    # -- answers ---------------------------------------------------------------------------------------------

    def predict(self, inputs: Iterable[str], *, n: int = 5, window: int = 1024, first: int = 1) -> Iterator[Filled]:
        """For each text, in order, what is likeliest to stand where it says [MASK] (or what the vocabulary was
        published with), each blank by itself. Streams, `window` texts at a time; what a text gets does not depend on
        its neighbours. DataError where a text is too long; it counts lines from `first`."""
        stream = enumerate(inputs, first)
        while lines := list(islice(stream, window)):
            texts = [self.blanked(text) for _, text in lines]
            self.check(texts, [line for line, _ in lines])
            asked = [(ids, [i for i, id in enumerate(ids) if id == self.mask]) for ids in texts]
            found: list[list[tuple[Guess, ...]]] = [[] for _ in lines]
            for row, logits in self.guesses(asked):
                found[row] = [self._best(each, n) for each in logits]
            yield from (self._filled(text, blanks) for (_, text), blanks in zip(lines, found, strict=True))

    def blanked(self, text: str) -> Ids:
        """The ids of a text with blanks, with specials."""
        if isinstance(self.tokenizer, PretrainedTokenizer):
            return [*self.tokenizer.with_specials().inputs(text).ids]
        before, behind = self.around()
        joined = self.tokenizer.kind in ("bpe", "unigram")
        first, *others = self.tokenizer.encode_batch(parts(text, self.spelled, joined=joined))
        return [*before, *first, *(id for part in others for id in (self.mask, *part)), *behind]

    def _best(self, logits: Tensor, n: int) -> tuple[Guess, ...]:
        p = logits.softmax(-1)
        top = p[self.words].topk(min(n, len(self.words)))
        found = zip(top.values.tolist(), top.indices.tolist(), strict=True)
        return tuple(Guess(self.tokenizer.piece(self.words[i]).strip(), value) for value, i in found)

    def _filled(self, text: str, blanks: Sequence[tuple[Guess, ...]]) -> Filled:
        for best, *_ in blanks:
            text = text.replace(self.spelled, best.token.removeprefix("##"), 1)
        return Filled(text, tuple(blanks))

    @torch.inference_mode()
    def guesses(self, asked: Sequence[tuple[Ids, Sequence[int]]]) -> Iterator[tuple[int, Tensor]]:
        """Which text, and of each of these places of it the logits (places, V). Texts without a place are left out."""
        self.model.eval()
        some = [row for row, (_, places) in enumerate(asked) if places]
        for rows in TokenBatches([(len(asked[row][0]),) * 2 for row in some], BATCH_TOKENS).in_order():
            mine = [asked[some[row]] for row in rows]
            said = self.model(*self.batch([ids for ids, _ in mine]).inputs, places=self.places(mine)).float()
            parts = said.split([len(places) for _, places in mine])
            yield from zip((some[row] for row in rows), parts, strict=True)

    def places(self, texts: Sequence[tuple[Ids, Sequence[int]]]) -> Tensor:
        """These places of each text among all tokens of the batch."""
        found, at = [], 0
        for ids, places in texts:
            found += [at + place for place in places]
            at += len(ids)
        return torch.tensor(found, device=self.device)

    def write(self, lines: Iterable[str], how: Written, *, window: int = 1024) -> Iterator[str]:
        return written(partial(self.predict, lines, window=window, first=how.first), how)

    # -- given texts -----------------------------------------------------------------------------------------

    def encode_lines(self, lines: Sequence[Line]) -> list[list[int]]:
        """The ids of each line that says something, without specials, in pieces of what the model reads at once."""
        before, behind = self.around()
        room = self.limit - len(before) - len(behind)
        found: list[list[int]] = []
        for ids in self.tokenizer.encode_batch([line.text for line in lines if line.text.strip()]):
            step = len(ids) if math.isinf(room) else max(1, int(room))
            found += [ids[i : i + step] for i in range(0, len(ids), max(1, step))]
        return found

    def corrupted(self, ids: list[int], random: np.random.Generator) -> Blanked:
        """An example to learn from: other tokens are left out with each draw."""
        return self.hidden(ids, *self.masking(ids, random))

    def hidden(self, ids: list[int], corrupted: list[int], places: list[int]) -> Blanked:
        before, behind = self.around()
        return [*before, *corrupted, *behind], [len(before) + i for i in places], [ids[i] for i in places]

    def cost(self, model: EncoderWithHead, texts: Sequence[Blanked]) -> Loss:
        return cross_entropy(*self.logits_and_labels(model, texts))

    def logits_and_labels(self, model: EncoderWithHead, texts: Sequence[Blanked]) -> tuple[Tensor, Tensor]:
        """(N, V) for the N tokens that are left out, and what stood there (N,)."""
        logits = model(
            *self.batch([ids for ids, _, _ in texts]).inputs, places=self.places([(ids, at) for ids, at, _ in texts])
        )
        right = torch.tensor([id for *_, tokens in texts for id in tokens], device=logits.device)
        return logits, right

    def evaluate(self, items: Sequence[Line], metrics: Sequence[str], *, bootstrap: int = 0) -> list[Score]:
        """`accuracy`, `loss` and `perplexity` of tokens that are left out at random, always the same ones;
        `pseudo_perplexity` with each token of the text left out by itself, which takes as long as it has tokens
        (Salazar et al. 2020)."""
        if unknown := [name for name in metrics if name not in FILL_METRICS]:
            raise ConfigError(f"unknown metric {unknown[0]!r}. {nearest(unknown[0], FILL_METRICS)}")
        texts = self.encode_lines(items)
        if not texts:
            raise DataError("There is nothing to evaluate: the text is empty.")
        scores: dict[str, Score] = {}
        kind = f"{self.tokenizer.kind} tokens"
        if set(metrics) - {"pseudo_perplexity"}:
            random = np.random.default_rng(SEED)
            rows = self._masked([(ids, chosen(len(ids), self.rate, random)) for ids in texts])
            scores = of_blanks(rows, f"masked:{self.rate:.0%}|seed:{SEED}|{kind}", bootstrap)
        if "pseudo_perplexity" in metrics:
            rows = self._masked([(ids, [i]) for ids in texts for i in range(len(ids))])
            scores["pseudo_perplexity"] = pseudo(rows, f"masked:one at a time|{kind}")
        return [scores[name] for name in metrics]

    def _masked(self, texts: Sequence[tuple[list[int], list[int]]]) -> list[Blanks]:
        """What is guessed at these places of each text, all masked."""
        asked = []
        for ids, places in texts:
            hidden = set(places)
            asked.append(self.hidden(ids, [self.mask if i in hidden else id for i, id in enumerate(ids)], places))
        rows = [Blanks(0, 0, 0.0)] * len(texts)
        for row, logits in self.guesses([(ids, places) for ids, places, _ in asked]):
            right = torch.tensor(asked[row][2], device=logits.device)
            hits = int((logits.argmax(-1) == right).sum())
            rows[row] = Blanks(hits, len(right), float(cross_entropy(logits, right).nll))
        return rows
