"""Vocabularies that came with a published model."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Self, final

import tokenizers

from sublayer.errors import CheckpointError, DataError
from sublayer.text.special import UNKNOWN
from sublayer.text.whole import write_whole

KEY = "sublayer"
ROLES = ("pad", "unk", "bos", "eos", "cls", "sep", "mask")


class Inputs(NamedTuple):
    """What an encoder reads: ids with special tokens, and of each the segment, 0 or 1."""

    ids: list[int]
    types: list[int]


@final
class PretrainedTokenizer:
    """A published vocabulary with its rules, under the verbs of ``Tokenizer``.

    specials  how the special tokens are spelled, by role: pad, unk, bos, eos, cls, sep, mask; a role may be missing

    ``encode`` adds no special token and finds none: ``[MASK]`` in a text is text. ``inputs`` adds those that the model
    was trained with. For texts that are to hold special tokens, ask ``with_specials()``.
    """

    def __init__(self, backend: tokenizers.Tokenizer, *, specials: Mapping[str, str]) -> None:
        self._backend = backend
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True
        self.specials = dict(specials)
        ids = {role: backend.token_to_id(specials[role]) if role in specials else None for role in ROLES}
        self._special = {i for i, token in backend.get_added_tokens_decoder().items() if token.special}
        self.pad, self.unk, self.bos, self.eos, self.cls, self.sep, self.mask = (ids[role] for role in ROLES)

    @property
    def vocab_size(self) -> int:
        return len(self)

    @property
    def ordinary(self) -> list[int]:
        """All ids but those of special tokens."""
        return [i for i in range(len(self)) if i not in self._special]

    @property
    def kind(self) -> str:
        """How it cuts words: wordpiece, bpe, unigram."""
        return type(self._backend.model).__name__.lower()

    @property
    def normalization(self) -> str:
        """The class of what every text goes through first, "none" for nothing."""
        made = self._backend.normalizer
        return "none" if made is None else type(made).__name__

    def __len__(self) -> int:
        return self._backend.get_vocab_size(with_added_tokens=True)

    def __repr__(self) -> str:
        return f"PretrainedTokenizer(vocab_size={len(self)}, specials={self.specials})"

    def with_specials(self) -> Self:
        """The same, but a special token that is spelled in a text is that token: ``the [MASK] sat``."""
        other = type(self).from_json(self.to_json())
        other._backend.encode_special_tokens = False
        return other

    def encode(self, text: str) -> list[int]:
        """The ids of the text, without special tokens. DataError for what UTF-8 cannot hold."""
        return self._encode(text).ids

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """``encode`` for each text, on all cores."""
        texts = list(texts)
        try:
            return [e.ids for e in self._backend.encode_batch_fast(texts, add_special_tokens=False)]
        except TypeError:
            return [self.encode(text) for text in texts]  # names the text that is at fault

    def encode_words(self, words: Sequence[str]) -> list[list[int]]:
        """The ids of each word of a text that has a space between them; of a word that gives none, `unk`. A token that
        reaches over several words is of the one that it ends in."""
        found = self._encode(" ".join(words))
        ends = list(accumulate(len(word) + 1 for word in words))
        each: list[list[int]] = [[] for _ in words]
        for id, (_, end) in zip(found.ids, found.offsets, strict=True):
            each[bisect_left(ends, end)].append(id)
        nothing = [] if self.unk is None else [self.unk]
        return [ids or nothing for ids in each]

    def around(self) -> tuple[list[int], list[int]]:
        """What stands before a text and behind it in `inputs`."""
        made = self._backend.post_process(self._encode("a"), None, add_special_tokens=True)
        first = made.special_tokens_mask.index(0)
        last = len(made) - made.special_tokens_mask[::-1].index(0)
        return made.ids[:first], made.ids[last:]

    def between(self) -> list[int]:
        """What stands between the two texts of a pair in `inputs`."""
        made = self._backend.post_process(self._encode("a"), self._encode("a"), add_special_tokens=True)
        first = made.special_tokens_mask.index(0)
        start = made.special_tokens_mask.index(1, first)
        return made.ids[start : made.special_tokens_mask.index(0, start)]

    def segments(self, ids: Sequence[int]) -> list[int]:
        """Of each of these `inputs` its segment: 0 up to the first separator, then 1. Devlin et al. 2019, section 3."""
        first = ids.index(self.sep) + 1 if self.sep in ids else len(ids)
        return [0] * first + [1] * (len(ids) - first)

    def inputs(self, text: str, pair: str | None = None, longest: int | None = None) -> Inputs:
        """What the model reads for a text, or for two. Of what is longer than `longest` ids, the end of the longer
        text is left out."""
        first, second = self._encode(text), None if pair is None else self._encode(pair)
        if longest is not None:
            _shorten(first, second, longest - self._backend.num_special_tokens_to_add(pair is not None))
        made = self._backend.post_process(first, second, add_special_tokens=True)
        return Inputs(made.ids, made.type_ids)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids. Special tokens give nothing, save an unknown one: it gives U+FFFD."""
        ids = [int(i) for i in ids]
        if unknown := [i for i in ids if not 0 <= i < len(self)]:
            raise DataError(f"ids {unknown} are not in this vocabulary of {len(self)}: write 0 to {len(self) - 1}.")
        kept = [i for i in ids if i == self.unk or i not in self._special]
        tokens = [UNKNOWN if i == self.unk else str(self._backend.id_to_token(i)) for i in kept]
        decoder = self._backend.decoder
        return " ".join(tokens) if decoder is None else decoder.decode(tokens)

    def located(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """``encode`` and, of each id, from where to where it stands in the text."""
        found = self._encode(text)
        return found.ids, found.offsets

    def tokens(self, text: str) -> list[str]:
        """The slice of the text that each id stands for, for pictures."""
        return [text[start:end] for start, end in self._encode(text).offsets]

    def piece(self, id: int) -> str:
        """One token to read. Bytes that are no character by themselves stay in the vocabulary's spelling."""
        text: str = self._backend.decode([id], skip_special_tokens=False)
        spelled = self._backend.id_to_token(id)
        if spelled is None:
            raise DataError(f"id {id} is not in this vocabulary of {len(self)}: write 0 to {len(self) - 1}.")
        return spelled if not text or UNKNOWN in text else text

    def to_json(self) -> str:
        """JSON that ``tokenizers.Tokenizer.from_str`` reads too: it passes over our key inside ``model``."""
        content = json.loads(self._backend.to_str())
        content["model"] = {KEY: {"specials": self.specials}, **content["model"]}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The tokenizer that ``to_json`` wrote. CheckpointError for anything else."""
        try:
            about = json.loads(text)["model"][KEY]
            backend = tokenizers.Tokenizer.from_str(text)
        except Exception as error:  # the library raises bare Exception
            raise CheckpointError(f"This is no tokenizer of a published model in our form: {error!r}.") from None
        return cls(backend, specials=about["specials"])

    def save(self, path: str | Path) -> None:
        """Write ``to_json`` as UTF-8; a reader sees the old file or the whole new one."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote. CheckpointError names the file."""
        try:
            return cls.from_json(Path(path).read_bytes().decode("utf-8-sig"))
        except (OSError, CheckpointError, UnicodeDecodeError) as error:
            raise CheckpointError(f"{path}: {error}") from None

    def save_pretrained(self, folder: str | Path) -> None:
        """tokenizer.json and tokenizer_config.json, as transformers reads them."""
        settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
        settings |= {f"{role}_token": spelled for role, spelled in self.specials.items()}
        write_whole(Path(folder) / "tokenizer.json", self._backend.to_str(pretty=True))
        write_whole(Path(folder) / "tokenizer_config.json", json.dumps(settings, ensure_ascii=False, indent=1) + "\n")

    def _encode(self, text: str) -> tokenizers.Encoding:
        try:
            return self._backend.encode(text, add_special_tokens=False)
        except TypeError:
            raise DataError(
                f"{text!r:.80} is not text that UTF-8 can hold: write a str without halves of surrogate pairs."
            ) from None


def _shorten(first: tokenizers.Encoding, second: tokenizers.Encoding | None, room: int) -> None:
    """Cut the end of the longer one until both fit; of two equally long ones that of the second."""
    n, m = len(first), 0 if second is None else len(second)
    while n + m > max(room, 0):
        n, m = (n - 1, m) if n > m else (n, m - 1)
    first.truncate(n)
    if second is not None:
        second.truncate(m)
