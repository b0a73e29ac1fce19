"""A tag for each word."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sublayer.data.conll import Sentence
from sublayer.data.slide import views
from sublayer.errors import ConfigError, DataError, listing, nearest
from sublayer.evaluate import Score, Span, evaluate_tags, is_bio, per_type, spans
from sublayer.models.config import ModelConfig
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.base import Written
from sublayer.tasks.folder import write_task
from sublayer.tasks.texts import Ids, TextTask, Vocabulary


@dataclass(frozen=True, slots=True)
class Tagged:
    """scores  the probability of each tag, one a word
    spans   what BIO tags mark; empty for other tags
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    scores: tuple[float, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A sentence, or a part of it.

    ids     with <s> and </s>
    places  where the first token of each word stands that is answered for here
    words   which words of the sentence these are
    """

    ids: Ids
    places: list[int]
    words: range


class Tag(TextTask):
    """An encoder with a head for tokens; the first token of a word speaks for it."""

    per_token = True

    def __init__(
        self,
        model: EncoderWithHead,
        config: ModelConfig,
        tokenizer: Vocabulary,
        tags: Sequence[str],
        transform: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, config, tokenizer, transform)
        self.tags = tuple(tags)
        self.bio = is_bio(self.tags)
        self.metrics = ("accuracy", *(["span_f1"] if self.bio else []), "loss", "per_class")  # type: ignore[misc]

    def describe(self, folder: Path) -> None:
        write_task(folder, "tag", self.config, {"tags": self.tags, "transform": self.transform})
        self.tokenizer.save(folder / "tokenizer.json")

    def sides(self) -> list[str]:
        return [*super().sides(), f"tags: {len(self.tags)}, {', '.join(self.tags)}"]

    def windows(self, words: Sequence[str]) -> list[Window]:
        """One, or several that overlap where the model cannot read so many tokens at once. DataError for a word that is
        too long by itself."""
        pieces = self.tokenizer.encode_words(words)
        before, behind = self.around()
        found = []
        for start, end, first, last in views([len(each) for each in pieces], self.limit - len(before) - len(behind)):
            ids: Ids = [*before]
            places = []
            for i in range(start, end):
                if first <= i < last:
                    places.append(len(ids))
                ids += pieces[i]
            found.append(Window([*ids, *behind], places, range(first, last)))
        return found

    def known(self, sentences: Sequence[Sentence]) -> dict[str, int]:
        """The number of each tag. DataError naming the sentences with one that was not trained."""
        known = {tag: i for i, tag in enumerate(self.tags)}
        unknown = [
            f"sentence in line {sentence.line}: {tag!r}. {nearest(tag, known)}"
            for sentence in sentences
            for tag in sentence.tags
            if tag not in known
        ]
        if unknown:
            raise DataError(listing("Tags that the model does not know:", unknown))
        return known

    # -- answers ---------------------------------------------------------------------------------------------

    def predict(self, inputs: Iterable[str | Sequence[str]], *, window: int = 1024, first: int = 1) -> Iterator[Tagged]:
        """For each sentence, in order, its tags: of its words, or of a text its parts between white space. Streams,
        `window` sentences at a time. What a sentence gets does not depend on its neighbours. DataError, sentences
        counted from `first`, for a word that is too long by itself."""
        stream = iter(inputs)
        while sentences := [given.split() if isinstance(given, str) else given for given in islice(stream, window)]:
            for words, logp in zip(sentences, self.logps(sentences, first), strict=True):
                best = logp.max(-1)
                tags = tuple(self.tags[i] for i in best.indices.tolist())
                scores = tuple(best.values.exp().tolist())
                yield Tagged(tuple(words), tags, scores, tuple(spans(tags)) if self.bio else ())
            first += len(sentences)

    def logps(self, sentences: Sequence[Sequence[str]], first: int = 1) -> list[Tensor]:
        """Of each sentence (words, tags) log-probabilities. DataError as of `predict`."""
        found = [torch.empty(len(words), len(self.tags)) for words in sentences]
        parts = []
        for i, words in enumerate(sentences):
            try:
                parts += [(i, part) for part in self.windows(words) if words]
            except DataError as error:
                raise DataError(f"sentence {first + i}: {error}") from None
        for row, logits in self.outputs([part.ids for _, part in parts]):
            i, part = parts[row]
            found[i][part.words.start : part.words.stop] = logits[part.places].log_softmax(-1).cpu()
        return found

    def write(self, lines: Iterable[str], how: Written, *, window: int = 1024) -> Iterator[str]:
        """Plain text, a sentence a line, gives its tags between spaces. Where the first line has a tab, the lines are
        words (what stands before the tab) with blank lines between sentences, and stay so: word, tab, tag."""
        if how.nbest > 1:
            raise ConfigError(f"nbest={how.nbest}: a word has one tag. Leave it out; --scores tells how likely it is.")
        lines = iter(lines)
        head = list(islice(lines, 1))
        lines = chain(head, lines)
        if head and "\t" in head[0]:
            yield from self._columns(lines, how, window)
            return
        for number, found in enumerate(self.predict(lines, window=window, first=how.first), how.first):
            if how.as_json:
                spans = [span._asdict() for span in found.spans]
                yield json.dumps({"line": number, **asdict(found), "spans": spans}, ensure_ascii=False)
            else:
                yield " ".join(_told(found, how))

    def _columns(self, lines: Iterable[str], how: Written, window: int) -> Iterator[str]:
        if how.as_json:
            raise ConfigError("--json is for plain text, a sentence a line.")
        for found in self.predict(_sentences(lines), window=window):
            yield from (f"{word}\t{tag}" for word, tag in zip(found.words, _told(found, how), strict=True))
            if not found.words:
                yield ""

    def long(self, items: Sequence[Sentence]) -> list[str]:
        found = []
        for item in items if self.limit < math.inf else ():
            if len(parts := self.windows(item.words)) > 1:
                tokens = sum(map(len, self.tokenizer.encode_words(item.words)))
                found.append(f"sentence in line {item.line}: {tokens} tokens, read in {len(parts)} windows")
        return found

    # -- right tags ------------------------------------------------------------------------------------------

    def evaluate(self, items: Sequence[Sentence], metrics: Sequence[str], *, bootstrap: int = 0) -> list[Score]:
        """`loss` is a word; `per_class` is the F1 of each type of span, or of each tag."""
        if not items:
            raise DataError("There is nothing to evaluate: 0 sentences.")
        known = self.known(items)
        logps = self.logps([item.words for item in items])
        given = [tuple(self.tags[i] for i in logp.argmax(-1).tolist()) for logp in logps]
        right = [item.tags for item in items]
        scores: list[Score] = []
        for name in metrics:
            if name == "loss":
                truth = torch.tensor([known[tag] for tags in right for tag in tags])
                nll = -torch.cat(logps).double().gather(1, truth[:, None]).mean()
                scores.append(Score("loss", float(nll), len(truth), "words", False, "loss|tags"))
            elif name == "per_class":
                scores += per_type(given, right)
            else:
                scores += evaluate_tags([name], given, right, bootstrap=bootstrap)
        return scores


def _told(found: Tagged, how: Written) -> list[str]:
    if not how.scores:
        return list(found.tags)
    return [f"{tag}:{score:.4f}" for tag, score in zip(found.tags, found.scores, strict=True)]


def _sentences(lines: Iterable[str]) -> Iterator[list[str]]:
    """The words of each sentence, and an empty sentence for each blank line."""
    words: list[str] = []
    for line in lines:
        if line.strip():
            words.append(line.split("\t")[0])
            continue
        if words:
            yield words
        yield []
        words = []
    if words:
        yield words
