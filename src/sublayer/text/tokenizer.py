"""Text to ids and back, and the one file that keeps a tokenizer."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeVar, final

import tokenizers

from sublayer.errors import CheckpointError, DataError, listing
from sublayer.text.kept import Kept
from sublayer.text.special import FEATURE, PART, SPECIALS, UNKNOWN
from sublayer.text.units import Slice, Words

KEY = "sublayer"
OF_BYTES = ("bpe", "unigram")
BACKWARD = "backward"

T = TypeVar("T")


@final
class Tokenizer(Kept):
    """A trained vocabulary with the rules that cut a text into it.

    kind           how the text is cut: see ``train_tokenizer``
    normalization  the Unicode normal form that every text is brought into first, "none" for none
    separator      what stands between two tokens of the kinds "word" and "split", else ""
    first_feature  kind "features": ids from here on are features; None for every other kind

    ``pad, unk, bos, eos`` are ids. ``encode`` adds none of them, and no text spells one: ``<pad>`` in a text
    is five characters, or a word like any other.
    """

    pad, unk, bos, eos = range(len(SPECIALS))

    def __init__(self, backend: tokenizers.Tokenizer, *, kind: str, normalization: str, separator: str = "") -> None:
        self.kind = kind
        self.normalization = normalization
        self.separator = separator
        self._backend = backend
        vocabulary = backend.get_vocab(with_added_tokens=False)
        self._tokens = sorted(vocabulary, key=vocabulary.__getitem__)
        self._readable = dict(enumerate(self._tokens))
        self._readable |= {self.pad: "", self.bos: "", self.eos: "", self.unk: self._spell(UNKNOWN)}
        self.first_feature: int | None = None
        if kind == "features":
            self.first_feature = next(
                (i for i, token in enumerate(self._tokens) if token.startswith((FEATURE, PART))), len(self)
            )

    @property
    def vocabulary(self) -> list[str]:
        """All tokens as they are spelled inside, in the order of their ids."""
        return list(self._tokens)

    @property
    def vocab_size(self) -> int:
        return len(self._tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    def __repr__(self) -> str:
        return f"Tokenizer(kind={self.kind!r}, normalization={self.normalization!r}, vocab_size={len(self)})"

    def encode(self, text: str) -> list[int]:
        """The ids of the text, without special tokens. DataError for what UTF-8 cannot hold."""
        return self._order(self._encode(text).ids)

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """``encode`` for each text, on all cores."""
        texts = list(texts)
        try:
            return [self._order(e.ids) for e in self._backend.encode_batch_fast(texts, add_special_tokens=False)]
        except TypeError:
            return [self.encode(text) for text in texts]  # names the text that is at fault

    def encode_words(self, words: Iterable[str]) -> list[list[int]]:
        """The ids of each word as it stands inside a text, behind a space; of one that gives none, `unk`."""
        space = " " if self.kind in ("bpe", "unigram") else ""
        return [ids or [self.unk] for ids in self.encode_batch(f"{space}{word}" for word in words)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids. Padding, begin and end give nothing; an unknown token gives U+FFFD."""
        try:
            tokens = self._order([self._readable[i] for i in ids])
        except KeyError as missing:
            raise DataError(
                f"id {missing} is not in this vocabulary of {len(self)} tokens: write ids from 0 to {len(self) - 1}."
            ) from None
        text: str = self._backend.decoder.decode([token for token in tokens if token])
        return text

    def settled(self, ids: Iterable[int]) -> str:
        """The beginning of ``decode(ids)`` that stays as it is whatever ids follow: a character may still lack bytes,
        and a lemma its features. Of a text that is written backward it is empty."""
        if self.kind == BACKWARD:
            return ""
        text = self.decode(ids)
        if self.kind == "features":
            return text.removesuffix("#")
        return text.rstrip(UNKNOWN) if self.kind in OF_BYTES else text

    def tokens(self, text: str) -> list[str]:
        """The slice of the text that each id stands for, for pictures: one a token, unknown ones too.

        A character whose bytes are several tokens is shown at each of them.
        """
        return self._order(self._pieces(text, self._encode(text).offsets))

    def located(self, text: str) -> tuple[list[int], list[Slice]]:
        """``encode`` and, of each id, from where to where it stands in the text."""
        found = self._encode(text)
        return self._order(found.ids), self._order(found.offsets)

    def words(self, text: str) -> Words:
        """The words of the text: runs without white space where tokens are parts of words, else a word a token."""
        found = self._encode(text)
        return self._words(text, self._order(found.ids), self._order(found.offsets))

    def words_of(self, ids: Sequence[int], text: str) -> Words:
        """``words`` of what the ids read as. The text is ``decode(ids)`` or its beginning; ids that lie behind it are
        left out."""
        if self.kind == BACKWARD:
            return Words.one_a_token(ids, [self.decode([i]) for i in ids])
        starts = [len(self.settled(ids[:n])) for n in range(len(ids))]
        kept = [i for i, start in enumerate(starts) if text[start:].removeprefix(self.separator)]
        slices = [(starts[i], len(self.decode(ids[: i + 1]))) for i in kept]
        return self._words(text, [ids[i] for i in kept], slices)

    def piece(self, id: int) -> str:
        """One token to read. Bytes that are no character by themselves stay in the vocabulary's spelling."""
        token = self._tokens[id]
        if id < len(SPECIALS):
            return token
        if self.first_feature is not None:
            return token.replace(FEATURE, "#").replace(PART, "+")
        text = self.decode([id])
        return text if self._spell(text) == token else token

    def to_json(self) -> str:
        """JSON that ``tokenizers.Tokenizer.from_str`` reads too: it passes over our key inside ``model``."""
        content = json.loads(self._backend.to_str())
        about = {"kind": self.kind, "normalization": self.normalization, "separator": self.separator}
        content["model"] = {KEY: about, **content["model"]}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The tokenizer that ``to_json`` wrote. CheckpointError for anything else."""
        try:
            content = json.loads(text)
            backend = tokenizers.Tokenizer.from_str(text)
        except Exception as error:  # the library raises bare Exception
            raise CheckpointError(f"This is no tokenizer's JSON: {error}.") from None
        if problems := _problems(content):
            raise CheckpointError(listing("This is not a tokenizer that Sublayer wrote:", problems))
        return cls(backend, **content["model"][KEY])

    def _order(self, tokens: list[T]) -> list[T]:
        """From the order of the text to that of the ids, and back."""
        return tokens[::-1] if self.kind == BACKWARD else tokens

    def _pieces(self, text: str, slices: Iterable[Slice]) -> list[str]:
        found = [text[start:end] for start, end in slices]
        if self.kind == "word":  # any white space may stand there
            return [piece.lstrip() for piece in found]
        return [piece.removeprefix(self.separator) for piece in found]

    def _words(self, text: str, ids: Sequence[int], slices: Sequence[Slice]) -> Words:
        if self.kind in (*OF_BYTES, "wordpiece"):
            return Words.between_spaces(text, ids, slices)
        return Words.one_a_token(ids, self._pieces(text, slices))

    def _encode(self, text: str) -> tokenizers.Encoding:
        try:
            return self._backend.encode(text, add_special_tokens=False)
        except TypeError:
            raise DataError(
                f"{text!r:.80} is not text that UTF-8 can hold: write a str without halves of surrogate pairs."
            ) from None

    def _spell(self, text: str) -> str:
        """The text as the vocabulary would spell it, whether it is in there or not."""
        if self._backend.normalizer is not None:
            text = self._backend.normalizer.normalize_str(text)
        return "".join(piece for piece, _ in self._backend.pre_tokenizer.pre_tokenize_str(text))


def _problems(content: dict[str, Any]) -> list[str]:
    """Why this valid tokenizer's JSON cannot be one of ours."""
    model = content["model"]
    about, vocabulary = model.get(KEY), model["vocab"]
    tokens = [token for token, _ in vocabulary] if isinstance(vocabulary, list) else list(vocabulary)
    ids = list(range(len(tokens))) if isinstance(vocabulary, list) else list(vocabulary.values())
    problems = []
    if not isinstance(about, dict) or set(about) != {"kind", "normalization", "separator"}:
        problems.append(f"model.{KEY} is {about!r}, expected the keys kind, normalization and separator")
    if tuple(tokens[: len(SPECIALS)]) != SPECIALS:
        problems.append(f"its first tokens are {tokens[: len(SPECIALS)]}, expected {list(SPECIALS)}")
    if ids != list(range(len(ids))):
        problems.append(f"its ids are not 0 to {len(ids) - 1} in that order")
    if content["added_tokens"]:
        problems.append(f"it has {len(content['added_tokens'])} added tokens, which texts could spell; expected none")
    return problems
