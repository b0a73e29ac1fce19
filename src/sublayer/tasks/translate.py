"""Pairs of anything: sentences, words to phonemes, lemma and features to a form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from sublayer.data.batch import PairBatch
from sublayer.data.examples import Pair
from sublayer.generate import Hypothesis
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks.answering import Answering
from sublayer.tasks.base import Task
from sublayer.tasks.folder import write_task
from sublayer.tasks.given import Source
from sublayer.tasks.search import Search
from sublayer.tasks.searching import Engine, Native
from sublayer.tasks.written import told
from sublayer.text import AnyTokenizer


class Translate(Answering, Task):
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
        source: AnyTokenizer,
        target: AnyTokenizer,
        search: Search,
        engine: Engine | None = None,
    ) -> None:
        self.model, self.config, self.source, self.target, self.search = model, config, source, target, search
        self.engine = Native() if engine is None else engine

    @property
    def tokenizer(self) -> AnyTokenizer:
        """Of the source."""
        return self.source

    def for_inference(self, dtype: torch.dtype | None = None, quantize: Literal["int8"] | None = None) -> Translate:
        """The same task with its model in inference form: it predicts faster, and can be neither trained nor saved."""
        model = self.model.for_inference(dtype, quantize)
        return Translate(model, self.config, self.source, self.target, self.search)

    def describe(self, folder: Path) -> None:
        shared = self.target is self.source
        about = {"shared": shared, "search": self.search.model_dump(mode="json")}
        write_task(folder, "translate", self.config, about)
        self.source.save(folder / "tokenizer.json")
        if not shared:
            self.target.save(folder / "target_tokenizer.json")

    @property
    def members(self) -> Sequence[Translate]:
        return (self,)

    def find(self, sources: Sequence[Source], search: Search) -> Iterable[list[Hypothesis]]:
        return self.engine.find(self, [ids for (ids,) in sources], search)

    @property
    def limit(self) -> float:
        """How many tokens of a text the model can read or write, specials counted; infinite where positions grow."""
        return self.config.longest

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
        return [(source, target) for (source,), target in self.read_pairs(pairs)]

    def batch(self, examples: Sequence[tuple[Sequence[int], Sequence[int]]]) -> PairBatch:
        sources, targets = zip(*examples, strict=True)
        return PairBatch.of(
            sources,
            targets,
            pad_ids=(self.source.pad, self.target.pad),
            bos=self.target.bos,
            eos=(self.source.eos, self.target.eos),
        ).to(self.device)
