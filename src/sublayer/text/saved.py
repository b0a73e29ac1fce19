"""Vocabularies from the files of a run."""

from __future__ import annotations

import json
from pathlib import Path

from sublayer.text.ngrams import NGrams
from sublayer.text.pretrained import PretrainedTokenizer
from sublayer.text.tokenizer import KEY, Tokenizer


def load_vocabulary(path: Path) -> Tokenizer | NGrams | PretrainedTokenizer:
    """Read what any of them saved. CheckpointError names the file."""
    return _class(path).load(path)


def _class(path: Path) -> type[Tokenizer | NGrams | PretrainedTokenizer]:
    try:
        held = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return Tokenizer  # says what is wrong with the file
    if isinstance(held, dict) and held.get("kind") == NGrams.kind:
        return NGrams
    model = held.get("model") if isinstance(held, dict) else None
    about = model.get(KEY) if isinstance(model, dict) else None
    return PretrainedTokenizer if isinstance(about, dict) and "specials" in about else Tokenizer
