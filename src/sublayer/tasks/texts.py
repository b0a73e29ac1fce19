"""What the tasks share that read texts with an encoder: ids, batches, what a head says of each text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from sublayer.data.bucket import TokenBatches
from sublayer.data.texts import TextBatch, Token
from sublayer.errors import DataError, listing
from sublayer.interop.pretrained import Pretrained
from sublayer.models.build import build
from sublayer.models.config import ModelConfig, Part
from sublayer.models.encoder import EncoderModel
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.base import Task
from sublayer.tasks.packing import pays, why_not
from sublayer.tasks.prepare import seeded, tokenizer_of
from sublayer.tasks.sections import Published, Train, Words
from sublayer.tasks.starting import published
from sublayer.tasks.written import told
from sublayer.text import NGrams, PretrainedTokenizer, Tokenizer

Vocabulary = Tokenizer | NGrams | PretrainedTokenizer
Ids = list[Token]

BATCH_TOKENS = 2048


class TextTask(Task):
    """An encoder with a head, and the vocabulary of the texts.

    per_token  whether the head gives a row a token, or one a text
    published  what it came as, where that was a published folder: `save_pretrained` writes such a one again
    transform  of the head, as the config of a model says it, where a published one has it; None: there is none
    """

    per_token: ClassVar[bool] = False
    published: Pretrained | None = None
    model: EncoderWithHead

    def __init__(
        self,
        model: EncoderWithHead,
        config: ModelConfig,
        tokenizer: Vocabulary,
        transform: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.config, self.tokenizer, self.transform = model, config, tokenizer, transform

    def for_inference(self, dtype: torch.dtype | None = None) -> Self:
        same = object.__new__(type(self))
        same.__dict__.update(self.__dict__, model=self.model.for_inference(dtype), published=None)
        return same

    def save_pretrained(self, folder: str | Path) -> None:
        if self.published is None:
            super().save_pretrained(folder)
        else:
            self.published.save_pretrained(folder)

    @property
    def limit(self) -> float:
        """How many tokens of a text the model can read, specials counted; infinite where positions grow."""
        return self.config.longest

    def token(self, id: int) -> Token:
        """One id as the encoder reads it."""
        return [id] if isinstance(self.tokenizer, NGrams) else id

    def around(self) -> tuple[Ids, Ids]:
        """What stands before a text and behind it."""
        if isinstance(self.tokenizer, PretrainedTokenizer):
            before, behind = self.tokenizer.around()
            return [*before], [*behind]
        return [self.token(self.tokenizer.bos)], [self.token(self.tokenizer.eos)]

    def between(self) -> Ids:
        """What stands between the two texts of a pair."""
        if isinstance(self.tokenizer, PretrainedTokenizer):
            return [*self.tokenizer.between()]
        return [self.token(self.tokenizer.eos)]

    def encode(self, texts: Sequence[Sequence[str]]) -> list[Ids]:
        """Of each text, or pair of texts: <s> a </s> b </s>, or as the vocabulary was published."""
        if isinstance(self.tokenizer, PretrainedTokenizer):
            return [[*self.tokenizer.inputs(*parts[:2]).ids] for parts in texts]  # type: ignore[arg-type]
        flat: list[Any] = list(self.tokenizer.encode_batch([part for parts in texts for part in parts]))
        bos, eos = self.token(self.tokenizer.bos), self.token(self.tokenizer.eos)
        found, at = [], 0
        for parts in texts:
            own = flat[at : at + len(parts)]
            found.append([bos, *(token for part in own for token in (*part, eos))])
            at += len(parts)
        return found

    def check(self, texts: Sequence[Ids], lines: Sequence[int]) -> None:
        """DataError naming the line of each text that is longer than the model reads."""
        long = [
            f"line {line}: {len(text)} tokens with specials"
            for text, line in zip(texts, lines, strict=True)
            if len(text) > self.limit
        ]
        if long:
            raise DataError(listing(f"Longer than the {self.limit:.0f} positions that the model learns:", long))

    def batch(self, texts: Sequence[Ids]) -> TextBatch:
        """Packed where that is faster."""
        packed = why_not(self) is None and pays([(len(text),) for text in texts])
        return TextBatch.of(texts, self.tokenizer.pad or 0, packed=packed, types=self.segments(texts)).to(self.device)

    def segments(self, texts: Sequence[Any]) -> list[list[int]] | None:
        """Which part of its pair each id is of, where the model tells them apart; None: all are of the first."""
        if self.config.embedding.token_types < 2 or not isinstance(self.tokenizer, PretrainedTokenizer):
            return None
        found = [self.tokenizer.segments(text) for text in texts]
        return found if any(map(any, found)) else None

    @torch.inference_mode()
    def outputs(self, texts: Sequence[Ids]) -> Iterator[tuple[int, Tensor]]:
        """Which text, and what the head says: a row of its own, or of a head for tokens a row for each of its tokens.
        Short texts come first; what a text gets does not depend on its neighbours."""
        self.model.eval()
        for rows in TokenBatches([(len(t), len(t)) for t in texts], BATCH_TOKENS).in_order():
            batch = self.batch([texts[row] for row in rows])
            said = self.model(*batch.inputs).float()
            parts = said.split(batch.lengths) if self.per_token else said.unbind()
            yield from zip(rows, parts, strict=True)

    def sides(self) -> list[str]:
        return [told("text", self.tokenizer)]

    def inputs(self, text: str | None) -> tuple[Any, ...]:
        if text is None:
            ids: Ids = [self.token(i) for i in range(4, min(10, len(self.tokenizer)))]
        else:
            (ids,) = self.encode([text.split("\t")])
        return (self.batch([ids]).ids,)


class Drawn:
    """Training batches of texts of about the same length, as the trainer sees them."""

    def __init__(self, lengths: Sequence[int], make: Callable[[list[int]], Any], train: Train) -> None:
        self.tokens = TokenBatches([(n, n) for n in lengths], train.batch_tokens, seed=train.seed)
        self.make = make

    def epoch(self, number: int) -> Iterator[Any]:
        return self.tokens.epoch(number)


def vocabulary_of(words: Words, texts: Sequence[str]) -> Vocabulary:
    """Learned from these texts."""
    if words.kind != "ngrams":
        return tokenizer_of(words, texts)
    cut = NGrams((), (), words.normalization).tokens
    return NGrams.train(
        map(cut, texts), vocab_size=words.vocab_size, min_count=words.min_count, normalization=words.normalization
    )


def start(
    model: ModelConfig | Published, train: Train, learn: Callable[[], Vocabulary]
) -> tuple[EncoderModel, ModelConfig, Vocabulary]:
    """An encoder, its whole config and its vocabulary: those of a published checkpoint, or fresh weights for the
    vocabulary that `learn` gives."""
    if isinstance(model, Published):
        body, config, words = published(model, "encoder", train)
        assert isinstance(body, EncoderModel)
        return body, config, words
    vocabulary = learn()
    sizes = {"source_vocab": vocabulary.vocab_size, "bags": isinstance(vocabulary, NGrams)}
    config = ModelConfig.read(model.model_dump() | sizes)
    body = seeded(config, train)
    assert isinstance(body, EncoderModel)
    return body, config, vocabulary


def empty(config: ModelConfig, kind: str, **options: Any) -> EncoderWithHead:
    """An encoder with such a head, whose weights are to be loaded."""
    given = {name: value for name, value in options.items() if value is not None}
    model = build(config.model_copy(update={"head": Part(kind=kind, **given)}))
    assert isinstance(model, EncoderWithHead)
    return model
