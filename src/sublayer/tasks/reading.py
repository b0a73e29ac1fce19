"""From hypotheses to what is handed over: text, tokens, and what the words come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sublayer.generate import Hypothesis
from sublayer.generate.stop_strings import cut
from sublayer.tasks.aligning import Reader, align
from sublayer.tasks.base import Alignment, Prediction
from sublayer.tasks.search import Search
from sublayer.text import Tokenizer


class Writer(Reader, Protocol):
    source: Tokenizer
    target: Tokenizer


def predictions(
    task: Writer, asked: Sequence[tuple[str, Hypothesis]], search: Search, alignments: bool
) -> list[Prediction]:
    """Of lines and hypotheses for them."""
    target = task.target
    texts = [cut(target.decode(h.tokens), search.stop_strings) for _, h in asked]
    aligned: Sequence[Alignment | None] = [None] * len(asked)
    if alignments:
        words = [target.words_of(h.tokens, text) for (_, h), text in zip(asked, texts, strict=True)]
        aligned = align(task, [(task.source.words(line), w) for (line, _), w in zip(asked, words, strict=True)])
    return [
        Prediction(
            text=text,
            score=h.score,
            logp=h.logp,
            tokens=(*(target.piece(token) for token in h.tokens), *(["</s>"] if h.finished else [])),
            token_logps=h.token_logps,
            finished=h.finished,
            alignment=alignment,
        )
        for (_, h), text, alignment in zip(asked, texts, aligned, strict=True)
    ]
