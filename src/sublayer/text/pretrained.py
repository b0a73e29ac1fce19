"""Vocabularies that came with a published model."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Self, final

import tokenizers

from sublayer.errors import CheckpointError, DataError, nearest
from sublayer.text.inputs import Inputs, shorten
from sublayer.text.kept import Kept
from sublayer.text.special import UNKNOWN
from sublayer.text.whole import write_whole

KEY = "sublayer"
LANGUAGE = re.compile(r"[a-z]{2}_[A-Z]{2}|[a-z]{3}_[A-Z][a-z]{3}|__[a-z]{2,3}__|>>\S+<<")
"""As mBART, NLLB, M2M100 and Marian spell theirs."""
ROLES = ("pad", "unk", "bos", "eos", "cls", "sep", "mask")


@final
class PretrainedTokenizer(Kept):
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

    @property
    def vocabulary(self) -> list[str]:
        """All tokens as they are spelled inside, in the order of their ids."""
        held = self._backend.get_vocab(with_added_tokens=True)
        return sorted(held, key=held.__getitem__)

    def __len__(self) -> int:
        return self._backend.get_vocab_size(with_added_tokens=True)

    def __repr__(self) -> str:
        return f"PretrainedTokenizer(vocab_size={len(self)}, specials={self.specials})"

    def with_specials(self) -> Self:
        """The same, but a special token that is spelled in a text is that token: ``the [MASK] sat``."""
        other = type(self).from_json(self.to_json())
        other._backend.encode_special_tokens = False
        return other

    @property
    def languages(self) -> tuple[str, ...]:
        """Tokens of languages, of a vocabulary that has them."""
        roles = set(self.specials.values())
        spelled = (token.content for _, token in sorted(self._backend.get_added_tokens_decoder().items()))
        return tuple(token for token in spelled if token not in roles and LANGUAGE.fullmatch(token))

    def id_of(self, token: str) -> int:
        """DataError for what is no token."""
        found = self._backend.token_to_id(token)
        if found is None:
            raise DataError(f"{token!r} is no token of this vocabulary. {nearest(token, self._backend.get_vocab())}")
        return int(found)

    def in_language(self, language: str) -> Self:
        """The same for texts in this language: `inputs` puts its token where the model was trained to have it."""
        content = json.loads(self.to_json())
        marks = json.dumps(content["post_processor"])
        now = [token for token in self.languages if f'"{token}"' in marks]
        if language not in self.languages or not now:
            raise DataError(f"{language!r} is no language here. {nearest(language, self.languages)}")
        marks = marks.replace(f'"{now[0]}"', f'"{language}"')
        content["post_processor"] = json.loads(marks)
        content["post_processor"]["special_tokens"][language]["ids"] = [self.id_of(language)]
        return type(self).from_json(json.dumps(content))

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
            shorten(first, second, longest - self._backend.num_special_tokens_to_add(pair is not None))
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
        return [text[start:end] for start, end in self.located(text)[1]]

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
