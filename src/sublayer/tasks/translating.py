"""How translation is learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sublayer.data import Pair, Pairs, group
from sublayer.data.batch import PackedPairs, PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.data.mixture import Joined
from sublayer.data.noise import Noise
from sublayer.evaluate import evaluate_texts
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks.base import Job
from sublayer.tasks.corpora import Example, encode, read_corpora, read_file
from sublayer.tasks.folder import write_sample
from sublayer.tasks.packing import pack, packs
from sublayer.tasks.prepare import seeded, tokenizer_of
from sublayer.tasks.recipe import Recipe, Train
from sublayer.tasks.search import Search, read_search
from sublayer.tasks.sections import Published
from sublayer.tasks.sizes import Choices, fill_in
from sublayer.tasks.starting import published_pair
from sublayer.tasks.subwords import Recuts
from sublayer.tasks.teachers import taught
from sublayer.tasks.teaching import logits_and_labels, sizes, translation_loss
from sublayer.tasks.translate import Translate
from sublayer.text import Tagged, Tokenizer, load_side
from sublayer.text.tagged import cut
from sublayer.train.loss import Loss
from sublayer.train.stretch import Stretched


class Translating(Job):
    architecture = "encoder-decoder"
    wanted = "name a file of pairs"

    def read(self, files: list[str], recipe: Recipe, *, skip_bad: bool) -> Pairs:
        return read_file(files, recipe.data, skip_bad=skip_bad)

    def read_train(self, recipe: Recipe) -> Pairs:
        assert recipe.data.train is not None
        return read_corpora(recipe.data.train, recipe.data, skip_bad=recipe.data.skip_bad)

    def fill_in(self, recipe: Recipe, items: Sequence[Pair]) -> Choices:
        return fill_in(recipe, items)

    def fresh(self, recipe: Recipe, items: Sequence[Pair]) -> Translate:
        assert recipe.train is not None and recipe.model is not None
        if isinstance(recipe.model, Published):
            published, config, reads, writes = published_pair(recipe.model, recipe.train)
            assert isinstance(published, EncoderDecoder)
            return Translate(published, config, reads, writes, recipe.search)
        source, target = _tokenizers(recipe, items)
        Recuts(recipe.train.subwords, source, target)  # says what cannot be before anything is written
        vocabularies = {"source_vocab": source.vocab_size, "target_vocab": target.vocab_size}
        features = {"first_feature": source.first_feature}
        config = ModelConfig.read(recipe.model.model_dump() | vocabularies | features)
        model = seeded(config, recipe.train)
        assert isinstance(model, EncoderDecoder)
        return Translate(model, config, source, target, recipe.search)

    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> Translate:
        search = read_search(about.get("search", {}), str(folder / "task.json"))
        source = load_side(folder / "tokenizer.json")
        target = source if about.get("shared") else load_side(folder / "target_tokenizer.json")
        model = build(config)
        assert isinstance(model, EncoderDecoder)
        return Translate(model, config, source, target, search)

    def encode(self, task: Translate, items: Sequence[Pair]) -> Sequence[Example]:
        return encode(task, items)

    def batches(self, task: Translate, examples: Sequence[Example], train: Train) -> _Pairs:
        return _Pairs(task, examples, train)

    def loss(self, task: Translate, train: Train) -> Callable[[Any, Any], Loss]:
        usual = partial(translation_loss, smoothing=train.label_smoothing, chunk=train.loss_chunk)
        loss = taught(usual, logits_and_labels, task, train, train.label_smoothing)
        return Stretched(loss, train.stretch_positions) if train.stretch_positions else loss

    def validate(self, task: Translate, items: Sequence[Pair], recipe: Recipe, out: Path) -> dict[str, float]:
        """Loss over all pairs; decoded, by greedy search, the first `validate_pairs` sources with all their targets, or
        where no metric needs them as many as are told.

        samples/valid.tsv: source, answer, targets.
        """
        train = recipe.train
        assert isinstance(train, Train)
        scores = task.evaluate(items, ["loss", "perplexity"])
        if train.validate_metrics or train.samples:
            decoded = group(items)[: train.validate_pairs or None if train.validate_metrics else train.samples]
            quick = Search(beam=1, **task.search.model_dump(include={"max_ratio", "max_extra"}))
            answers = [found[0].text for found in task.predict((source for source, _ in decoded), search=quick)]
            scores += evaluate_texts(train.validate_metrics, answers, [targets for _, targets in decoded])
            write_sample(out, ([source, said, *ok] for (source, ok), said in zip(decoded, answers, strict=True)))
        return {score.name: score.value for score in scores}


class _Pairs:
    """The training pairs as the trainer sees them. What chance does to them is a pure function of (seed, epoch, pairs).
    Batches are made by the lengths of the texts as they are cut without chance."""

    def __init__(self, task: Translate, examples: Sequence[Example], train: Train) -> None:
        self.task, self.examples, self.seed = task, examples, train.seed
        self.noise = Noise(**train.noise.model_dump())
        self.recuts = Recuts(train.subwords, task.source, task.target, task.limit)
        draw = examples.draw if isinstance(examples, Joined) else None
        self.tokens = TokenBatches(sizes(examples), train.batch_tokens, seed=train.seed, draw=draw)

    def epoch(self, number: int) -> Iterator[tuple[int, list[int]]]:
        return ((number, rows) for rows in self.tokens.epoch(number))

    def make(self, drawn: tuple[int, list[int]]) -> PairBatch | PackedPairs:
        epoch, rows = drawn
        examples = [self.examples[row] for row in rows]
        random = np.random.default_rng([self.seed, epoch, *rows])
        if self.recuts:
            examples = [self.recuts(example, random.random) for example in examples]
        if self.noise != Noise():
            unknown = self.task.source.unk
            examples = [(self._worse(source, unknown, random), target) for source, target in examples]
        return pack(self.task, examples) if packs(self.task, examples) else self.task.batch(examples)

    def _worse(self, source: list[int], unknown: int, random: np.random.Generator) -> list[int]:
        """A tag stays."""
        front = self.task.source.front(source) if isinstance(self.task.source, Tagged) else 0
        return [*source[:front], *(self.noise(source[front:], unknown, random) if source[front:] else [])]


def _tokenizers(recipe: Recipe, pairs: Sequence[Pair]) -> tuple[Tokenizer | Tagged, Tokenizer | Tagged]:
    tags = _tags(recipe)
    sources, targets = (cut(p.source, tags)[1] for p in pairs), (p.target for p in pairs)
    if recipe.text.shared:
        both = _tagged(tokenizer_of(recipe.text.source, chain(sources, targets)), tags)
        return both, both
    return _tagged(tokenizer_of(recipe.text.source, sources), tags), tokenizer_of(recipe.text.target, targets)


def _tags(recipe: Recipe) -> list[str]:
    """Those that are named, and each prefix that is a word and a space."""
    prefixes = [recipe.data.prefix, *(more.prefix for more in recipe.data.more)]
    words = [prefix.removesuffix(" ") for prefix in prefixes if prefix.endswith(" ")]
    return list(dict.fromkeys([*recipe.text.tags, *(word for word in words if word.split() == [word])]))


def _tagged(own: Tokenizer, tags: Sequence[str]) -> Tokenizer | Tagged:
    return Tagged(own, tags) if tags else own
