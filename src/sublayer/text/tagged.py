"""Tags at the beginning of a text, such as the language to write: one token each, whatever the vocabulary."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Self, final

from sublayer.errors import CheckpointError, ConfigError, listing
from sublayer.text.kept import Kept
from sublayer.text.tokenizer import KEY, Tokenizer
from sublayer.text.units import Slice, Words


@final
class Tagged(Kept):
    """The verbs of ``Tokenizer``. A text that is a tag, or a tag and a space before more, begins with the tag's id, and
    the rest is cut as if it stood alone. Anywhere else a tag is text like any other. Johnson et al. 2017, section 3.

    own   the vocabulary of the rest; the ids of the tags stand behind its own
    tags  words without white space. ConfigError names those that are none, or that stand there twice
    """

    def __init__(self, own: Tokenizer, tags: Sequence[str]) -> None:
        problems = [f"{tag!r} is no word: write one without white space" for tag in tags if tag.split() != [tag]]
        problems += [f"{tag!r} stands there twice" for tag in dict.fromkeys(tags) if tags.count(tag) > 1]
        if problems:
            raise ConfigError(listing("These cannot be tags:", problems))
        self.own, self.tags = own, tuple(tags)
        self.kind, self.normalization, self.separator = own.kind, own.normalization, own.separator
        self.first_feature = own.first_feature
        self.pad, self.unk, self.bos, self.eos = own.pad, own.unk, own.bos, own.eos
        self._ids = {tag: len(own) + number for number, tag in enumerate(self.tags)}

    @property
    def vocabulary(self) -> list[str]:
        """All tokens as they are spelled inside, in the order of their ids; a tag with the space behind it."""
        return [*self.own.vocabulary, *(f"{tag} " for tag in self.tags)]

    @property
    def vocab_size(self) -> int:
        return len(self)

    def __len__(self) -> int:
        return len(self.own) + len(self.tags)

    def __repr__(self) -> str:
        return f"Tagged({self.own!r}, tags={self.tags})"

    def front(self, ids: Sequence[int]) -> int:
        """How many ids at the beginning are a tag: 1, or 0."""
        return int(len(ids) > 0 and ids[0] >= len(self.own))

    def encode(self, text: str) -> list[int]:
        """The ids of the text, without special tokens. DataError for what UTF-8 cannot hold."""
        tag, rest = cut(text, self.tags)
        return [*self._front(tag), *self.own.encode(rest)]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """``encode`` for each text, on all cores."""
        parts = [cut(text, self.tags) for text in texts]
        found = self.own.encode_batch([rest for _, rest in parts])
        return [[*self._front(tag), *ids] for (tag, _), ids in zip(parts, found, strict=True)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids. A tag gives nothing where it is not the first."""
        tag, rest = self._parted(list(ids))
        return _joined(tag, self.own.decode(rest))

    def settled(self, ids: Iterable[int]) -> str:
        """The beginning of ``decode(ids)`` that stays as it is whatever ids follow."""
        tag, rest = self._parted(list(ids))
        return _joined(tag, self.own.settled(rest))

    def tokens(self, text: str) -> list[str]:
        """The slice of the text that each id stands for, for pictures."""
        tag, rest = cut(text, self.tags)
        return [*([tag] if tag else []), *self.own.tokens(rest)]

    def words(self, text: str) -> Words:
        """The words of the text: the tag is one, the others are those of the rest."""
        tag, rest = cut(text, self.tags)
        return self._behind(tag, self.own.words(rest))

    def words_of(self, ids: Sequence[int], text: str) -> Words:
        """``words`` of what the ids read as. The text is ``decode(ids)`` or its beginning; ids that lie behind it are
        left out."""
        tag, rest = self._parted(ids)
        found = self.own.words_of(rest, text[len(tag) :].removeprefix(" ") if tag else text)
        return self._behind(tag if text.startswith(tag) else "", found)

    def located(self, text: str) -> tuple[list[int], list[Slice]]:
        """``encode`` and, of each id, from where to where it stands in the text."""
        tag, rest = cut(text, self.tags)
        ids, slices = self.own.located(rest)
        shift = len(text) - len(rest)
        front = [(0, len(tag))] if tag else []
        return [*self._front(tag), *ids], [*front, *((start + shift, end + shift) for start, end in slices)]

    def piece(self, id: int) -> str:
        """One token to read."""
        return self.own.piece(id) if id < len(self.own) else self.tags[id - len(self.own)]

    def to_json(self) -> str:
        """That of the vocabulary, with the tags."""
        content = json.loads(self.own.to_json())
        content["model"][KEY]["tags"] = list(self.tags)
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What ``to_json`` wrote. CheckpointError for anything else."""
        content = json.loads(text)
        tags = content["model"][KEY].pop("tags")
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise CheckpointError(f"model.{KEY}.tags is {tags!r}, expected a list of words.")
        return cls(Tokenizer.from_json(json.dumps(content)), tags)

    def _front(self, tag: str) -> list[int]:
        return [self._ids[tag]] if tag else []

    def _parted(self, ids: Sequence[int]) -> tuple[str, list[int]]:
        tag = self.piece(ids[0]) if self.front(ids) else ""
        return tag, [id for id in ids if not len(self.own) <= id < len(self)]

    def _behind(self, tag: str, words: Words) -> Words:
        if not tag:
            return words
        of = (number + 1 if number >= 0 else -1 for number in words.of)
        return Words((self._ids[tag], *words.ids), (tag, *words.texts), (0, *of))


def cut(text: str, tags: Iterable[str]) -> tuple[str, str]:
    """The tag that the text begins with, or nothing, and what stands behind it and its space."""
    first, _, rest = text.partition(" ")
    return (first, rest) if first in tags else ("", text)


def _joined(tag: str, rest: str) -> str:
    return f"{tag} {rest}" if tag and rest else tag or rest
