"""A published vocabulary as one side of a model that writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self, final

from sublayer.errors import CheckpointError
from sublayer.text.pretrained import KEY, PretrainedTokenizer
from sublayer.text.special import UNKNOWN
from sublayer.text.units import Slice, Words
from sublayer.text.whole import write_whole


@final
class PublishedSide:
    """The verbs of ``Tokenizer`` for what a published model reads, or for what it writes.

    before  ids that every text begins with, a language for example
    after   ids that stand behind every text, before what ends it
    bos     what an answer is written after
    eos     what ends a text

    Where the vocabulary has no padding or no unknown token, `eos` stands for it, which never comes inside a text.
    """

    separator = ""
    first_feature = None

    def __init__(
        self, own: PretrainedTokenizer, *, before: Sequence[int] = (), after: Sequence[int] = (), bos: int, eos: int
    ) -> None:
        self.own, self.before, self.after, self.bos, self.eos = own, list(before), list(after), bos, eos
        self.pad = eos if own.pad is None else own.pad
        self.unk = eos if own.unk is None else own.unk
        self.kind, self.normalization = own.kind, own.normalization

    @property
    def vocabulary(self) -> list[str]:
        """All tokens as they are spelled inside, in the order of their ids."""
        return self.own.vocabulary

    @property
    def vocab_size(self) -> int:
        return len(self)

    def __len__(self) -> int:
        return len(self.own)

    def __repr__(self) -> str:
        return f"PublishedSide({self.own!r}, before={self.before}, after={self.after}, bos={self.bos}, eos={self.eos})"

    def encode(self, text: str) -> list[int]:
        """The ids of the text between those of `before` and `after`. DataError for what UTF-8 cannot hold."""
        return [*self.before, *self.own.encode(text), *self.after]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """``encode`` for each text, on all cores."""
        return [[*self.before, *ids, *self.after] for ids in self.own.encode_batch(texts)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids. Special tokens give nothing, save an unknown one: it gives U+FFFD."""
        return self.own.decode(ids)

    def settled(self, ids: Iterable[int]) -> str:
        """The beginning of ``decode(ids)`` that stays whatever ids follow: a character may still lack bytes."""
        return self.decode(ids).rstrip(UNKNOWN)

    def tokens(self, text: str) -> list[str]:
        """The slice of the text that each id stands for, for pictures."""
        return [*map(self.piece, self.before), *self.own.tokens(text), *map(self.piece, self.after)]

    def words(self, text: str) -> Words:
        """The words of the text: runs without white space."""
        return self._words(text, *self.own.located(text))

    def words_of(self, ids: Sequence[int], text: str) -> Words:
        """``words`` of what the ids read as. The text is ``decode(ids)`` or its beginning; ids that lie behind it are
        left out."""
        inner = list(ids[len(self.before) :] if list(ids[: len(self.before)]) == self.before else ids)
        ends = [len(self.decode(inner[: n + 1])) for n in range(len(inner))]
        starts = [0, *(len(self.settled(inner[:n])) for n in range(1, len(inner)))]
        kept = [i for i, start in enumerate(starts[: len(inner)]) if text[start:]]
        return self._words(text, [inner[i] for i in kept], [(starts[i], ends[i]) for i in kept])

    def piece(self, id: int) -> str:
        """One token to read."""
        return self.own.piece(id)

    def to_json(self) -> str:
        """That of the vocabulary, with what stands around a text beside its special tokens."""
        content = json.loads(self.own.to_json())
        content["model"][KEY]["side"] = {
            "before": self.before,
            "after": self.after,
            "bos": self.bos,
            "eos": self.eos,
        }
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write ``to_json`` as UTF-8; a reader sees the old file or the whole new one."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote. CheckpointError names the file."""
        own = PretrainedTokenizer.load(path)
        side: Any = json.loads(Path(path).read_text(encoding="utf-8-sig"))["model"][KEY].get("side")
        try:
            return cls(own, **side)
        except TypeError:
            raise CheckpointError(f"{path} does not say what stands around a text: model.{KEY}.side.") from None

    def _words(self, text: str, ids: Sequence[int], slices: Sequence[Slice]) -> Words:
        found = Words.between_spaces(text, ids, slices)
        front, back = (-1,) * len(self.before), (-1,) * len(self.after)
        return Words((*self.before, *found.ids, *self.after), found.texts, (*front, *found.of, *back))
