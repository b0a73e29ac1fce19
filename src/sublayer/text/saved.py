"""Vocabularies from the files of a run."""

from __future__ import annotations

import json
from pathlib import Path

from sublayer.text.ngrams import NGrams
from sublayer.text.pretrained import PretrainedTokenizer
from sublayer.text.side import PublishedSide
from sublayer.text.tagged import Tagged
from sublayer.text.tokenizer import KEY, Tokenizer


def load_vocabulary(path: Path) -> Tokenizer | NGrams | PretrainedTokenizer:
    """Of texts that are read. CheckpointError names the file."""
    kind = _class(path)
    if kind is Tagged:
        return Tokenizer.load(path)  # says what is wrong with the file: no text that is only read has tags
    return (PretrainedTokenizer if kind is PublishedSide else kind).load(path)


def load_side(path: Path) -> Tokenizer | Tagged | PublishedSide:
    """Of texts that are read and written. CheckpointError names the file."""
    kind = _class(path)
    if kind is Tagged:
        return Tagged.load(path)
    return (PublishedSide if kind in (PublishedSide, PretrainedTokenizer) else Tokenizer).load(path)


def _class(path: Path) -> type[Tokenizer | Tagged | NGrams | PretrainedTokenizer | PublishedSide]:
    try:
        held = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return Tokenizer  # says what is wrong with the file
    if isinstance(held, dict) and held.get("kind") == NGrams.kind:
        return NGrams
    model = held.get("model") if isinstance(held, dict) else None
    about = model.get(KEY) if isinstance(model, dict) else None
    if isinstance(about, dict) and "tags" in about:
        return Tagged
    if not isinstance(about, dict) or "specials" not in about:
        return Tokenizer
    return PublishedSide if "side" in about else PretrainedTokenizer
