"""Vocabularies of whole units: characters, words, separated symbols, characters with features.

One rule orders them all: the special tokens, then by falling count, then by code point.
"""

import re
import sys
from collections.abc import Iterable

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Backend

from sublayer.errors import DataError
from sublayer.text.fit import fit
from sublayer.text.plan import Plan
from sublayer.text.special import FEATURE, PART, SPECIALS, UNK
from sublayer.text.tokenizer import Tokenizer


def char(texts: Iterable[str], plan: Plan) -> Tokenizer:
    """Each Unicode character is a token, spaces and line ends included."""
    return _characters(texts, plan, "char")


def backward(texts: Iterable[str], plan: Plan) -> Tokenizer:
    """Characters from the last to the first: an ending is written before the stem that it hangs on."""
    return _characters(texts, plan, "backward")


def _characters(texts: Iterable[str], plan: Plan, kind: str) -> Tokenizer:
    backend = Backend(models.WordLevel(unk_token=UNK))
    backend.normalizer = normalizers.Sequence(plan.normalizers())
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    backend = _count(backend, texts, plan.vocab_size, plan.min_count)
    return Tokenizer(backend, kind=kind, normalization=plan.normalization)


def word(texts: Iterable[str], plan: Plan) -> Tokenizer:
    """What stands between white space is a token; any run of white space reads back as one space."""
    backend = _separated(" ", plan, [normalizers.Replace(Regex(r"\s+"), " ")])
    backend = _count(backend, texts, plan.vocab_size, plan.min_count)
    return Tokenizer(backend, kind="word", normalization=plan.normalization, separator=" ")


def split(texts: Iterable[str], plan: Plan) -> Tokenizer:
    """What stands between separators is a token, however rare; empty tokens are passed over."""
    backend = _separated(plan.separator, plan, [])
    backend = _count(backend, texts)
    return Tokenizer(backend, kind="split", normalization=plan.normalization, separator=plan.separator)


def features(texts: Iterable[str], plan: Plan) -> Tokenizer:
    """``lemma#V;ARG1S+ARG2P;PST`` is the lemma's characters, then ``V``, ``ARG1S``, ``+ARG2P`` and ``PST``; the last
    ``#`` divides.

    The normaliser writes U+001F before each feature, U+001E for a plus between two: so a feature is no character of
    the same spelling, has one id wherever it stands, and a lemma may hold ``;``, ``+`` and ``#``. A lemma with a ``#``
    but without features needs a ``#`` at its end, and is read back with it. U+001E and U+001F are dropped from the
    text.
    """
    backend = Backend(models.WordLevel(unk_token=UNK))
    replace, after = normalizers.Replace, r"(?=[^#]*\z)"
    backend.normalizer = normalizers.Sequence(
        [
            replace(Regex(f"[{PART}{FEATURE}]"), ""),
            *plan.normalizers(),
            replace(Regex(r"(?<=#[^#]*[^#;+])\+(?=[^#;+][^#]*\z)"), PART),
            replace(Regex(rf"(?<=#[^#]*);{after}"), FEATURE),
            replace(Regex(f"#{after}"), FEATURE),
            replace(Regex(rf"{FEATURE}+(?={FEATURE}|\z)"), ""),
        ]
    )
    backend.pre_tokenizer = pre_tokenizers.Split(
        Regex(f"[{FEATURE}{PART}][^{FEATURE}{PART}]*|[^{FEATURE}{PART}]"), "isolated"
    )
    backend.decoder = decoders.Sequence(
        [
            decoders.Fuse(),
            decoders.Replace(Regex(rf"(?<=\A[^{FEATURE}]*#[^{FEATURE}]*)\z"), "#"),
            decoders.Replace(Regex(rf"\A[^{FEATURE}]*\K{FEATURE}"), "#"),
            decoders.Replace(FEATURE, ";"),
            decoders.Replace(PART, "+"),
        ]
    )
    backend = _count(backend, texts)
    vocabulary = backend.get_vocab()
    tokens = sorted(vocabulary, key=lambda token: (token.startswith((FEATURE, PART)), vocabulary[token]))
    backend.model = models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token=UNK)
    return Tokenizer(backend, kind="features", normalization=plan.normalization)


def _separated(separator: str, plan: Plan, tidy: list[normalizers.Normalizer]) -> Backend:
    """Tokens are kept with their separator before them, so that none is spelled like a special token."""
    backend = Backend(models.WordLevel(unk_token=UNK))
    one = re.escape(separator)
    idle = normalizers.Replace(Regex(rf"\A(?:{one})+|(?<={one})(?:{one})+|(?:{one})+\z"), "")
    backend.normalizer = normalizers.Sequence([*plan.normalizers(), *tidy, idle, normalizers.Prepend(separator)])
    backend.pre_tokenizer = pre_tokenizers.Split(separator, "merged_with_next")
    first = decoders.Replace(Regex(rf"\A{one}"), "")
    backend.decoder = decoders.Sequence([decoders.Fuse(), first])
    return backend


def _count(backend: Backend, texts: Iterable[str], vocab_size: int = sys.maxsize, min_count: int = 1) -> Backend:
    """The backend with its vocabulary: special tokens, then falling count, then code point."""
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocab_size, min_frequency=min_count, special_tokens=list(SPECIALS), show_progress=False
    )
    backend = fit(backend, texts, trainer)
    if backend.get_vocab_size() == len(SPECIALS):
        raise DataError(
            f"No token is left to learn from these texts at min_count={min_count}. "
            "Give texts that hold more than separators, or a smaller min_count."
        )
    return backend
