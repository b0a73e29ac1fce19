"""Words together with the character n-grams that they are spelt with."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self, cast, final

from sublayer.errors import CheckpointError, DataError
from sublayer.text.special import SPECIALS, UNKNOWN

KIND = "ngrams"
LENGTHS = range(2, 6)
WORD = re.compile(r"\w+|[^\w\s]")


@final
class NGrams:
    """A vocabulary of words and of n-grams, 2 to 5 characters of a word between its marks: `<cat>` holds `<c`, `cat`,
    `at>`. Bojanowski et al. 2017, section 3.2.

    A word is a bag of ids: its own, or `unk` where it was too rare, then those of its n-grams that are known. So a word
    never seen is read by its beginning, its ending and what is between.

    words, ngrams  by falling count, then by code point: the order does not depend on the run
    """

    pad, unk, bos, eos = range(len(SPECIALS))
    kind = KIND

    def __init__(self, words: Sequence[str], ngrams: Sequence[str], normalization: str) -> None:
        self.words, self.ngrams, self.normalization = list(words), list(ngrams), normalization
        self._words = {word: i for i, word in enumerate(self.words, len(SPECIALS))}
        self._ngrams = {ngram: i for i, ngram in enumerate(self.ngrams, len(SPECIALS) + len(self.words))}
        self._known = lru_cache(maxsize=100_000)(self._look_up)  # most words of a text come often

    @classmethod
    def train(
        cls, texts: Iterable[Sequence[str]], *, vocab_size: int, min_count: int = 1, normalization: str = "nfc"
    ) -> Self:
        """From texts that are cut into words. The `vocab_size` likeliest words that come `min_count` times or more, and
        every n-gram that stands in two different words. DataError where the texts hold no word."""
        counts = Counter(_normal(word, normalization) for words in texts for word in words)
        if not counts:
            raise DataError("The texts to learn a vocabulary from hold no word: give at least one.")
        kept = [word for word in _by_count(counts) if counts[word] >= min_count]
        spread = Counter(ngram for word in counts for ngram in set(spelt(word)))
        ngrams = [ngram for ngram in _by_count(spread) if spread[ngram] > 1]
        return cls(kept[: max(0, vocab_size - len(SPECIALS))], ngrams, normalization)

    @property
    def vocab_size(self) -> int:
        """Special tokens, words and n-grams: they share one table."""
        return len(self)

    def __len__(self) -> int:
        return len(SPECIALS) + len(self.words) + len(self.ngrams)

    def bag(self, word: str) -> list[int]:
        """The id of the word, then those of its n-grams."""
        return list(self._known(word))

    def _look_up(self, word: str) -> tuple[int, ...]:
        word = _normal(word, self.normalization)
        ngrams = (self._ngrams[ngram] for ngram in spelt(word) if ngram in self._ngrams)
        return self._words.get(word, self.unk), *ngrams

    def encode(self, text: str) -> list[list[int]]:
        """A bag for each word of a text; what is no letter or digit stands alone."""
        return [self.bag(word) for word in WORD.findall(text)]

    def encode_batch(self, texts: Iterable[str]) -> list[list[list[int]]]:
        return [self.encode(text) for text in texts]

    def encode_words(self, words: Iterable[str]) -> list[list[list[int]]]:
        """For each word, whatever it is made of, its one bag."""
        return [[self.bag(word)] for word in words]

    def located(self, text: str) -> tuple[list[list[int]], list[tuple[int, int]]]:
        """``encode`` and, of each bag, from where to where its word stands in the text."""
        found = list(WORD.finditer(text))
        return [self.bag(match.group()) for match in found], [match.span() for match in found]

    def tokens(self, text: str) -> list[str]:
        """The words that `encode` gives bags for."""
        return WORD.findall(text)

    def piece(self, id: int) -> str:
        """A special token, a word or an n-gram, to read."""
        return [*SPECIALS[:1], UNKNOWN, *SPECIALS[2:], *self.words, *self.ngrams][id]

    def save(self, path: str | Path) -> None:
        """As UTF-8 JSON; a reader sees the old file or the whole new one."""
        path = Path(path)
        values = {"kind": KIND, "normalization": self.normalization, "words": self.words, "ngrams": self.ngrams}
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        unfinished.write_text(json.dumps(values, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
        os.replace(unfinished, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote. CheckpointError names the file."""
        try:
            values: Any = json.loads(Path(path).read_bytes())
            words, ngrams = values["words"], values["ngrams"]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise CheckpointError(f"{path} cannot be read as words and n-grams: {error!r}.") from None
        if values.get("kind") != KIND or not isinstance(words, list) or not isinstance(ngrams, list):
            raise CheckpointError(f"{path} is of kind {values.get('kind')!r}, expected {KIND!r} with two lists.")
        return cls(words, ngrams, values.get("normalization", "nfc"))


def spelt(word: str) -> list[str]:
    """The n-grams of a word between its marks, shorter ones first; the marked word itself is none of them."""
    marked = f"<{word}>"
    return [marked[i : i + n] for n in LENGTHS if n < len(marked) for i in range(len(marked) - n + 1)]


def _normal(word: str, form: str) -> str:
    return word if form == "none" else unicodedata.normalize(cast(Literal["NFC"], form.upper()), word)


def _by_count(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda token: (-counts[token], token))
