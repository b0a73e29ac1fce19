"""From hypotheses to what is handed over: text, tokens, and what the words come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from sublayer.generate import Hypothesis
from sublayer.generate.stop_strings import cut
from sublayer.tasks.aligning import Reader, align
from sublayer.tasks.base import Alignment, Prediction
from sublayer.tasks.search import Search
from sublayer.text import Tokenizer, Words


class Bilingual(Reader, Protocol):
    source: Tokenizer
    target: Tokenizer


def predictions(
    task: Bilingual, asked: Sequence[tuple[str, Hypothesis]], search: Search, alignments: bool
) -> list[Prediction]:
    """Of lines and hypotheses for them.

    With `search.replace_unknown` an unknown word reads as the source word that it comes from (Luong et al. 2015,
    Jean et al. 2015); its token, its log-probability and its link stay.
    """
    target = task.target
    texts = [cut(target.decode(h.tokens), search.stop_strings) for _, h in asked]
    aligned: Sequence[Alignment | None] = [None] * len(asked)
    if alignments or search.replace_unknown:
        words = [target.words_of(h.tokens, text) for (_, h), text in zip(asked, texts, strict=True)]
        aligned = align(task, [(task.source.words(line), w) for (line, _), w in zip(asked, words, strict=True)])
        if search.replace_unknown:
            copied = [copy(text, w, a, target) for text, w, a in zip(texts, words, aligned, strict=True)]
            texts, aligned = [text for text, _ in copied], [a for _, a in copied]
    return [
        Prediction(
            text=text,
            score=h.score,
            logp=h.logp,
            tokens=(*(target.piece(token) for token in h.tokens), *(["</s>"] if h.finished else [])),
            token_logps=h.token_logps,
            finished=h.finished,
            alignment=alignment if alignments else None,
        )
        for (_, h), text, alignment in zip(asked, texts, aligned, strict=True)
    ]


def copy(text: str, written: Words, alignment: Alignment, target: Tokenizer) -> tuple[str, Alignment]:
    """The text and its alignment, one word a token, with source words for unknown ones; one without a link stays."""
    comes_from = {t: alignment.source[s] for s, t in alignment.links}
    words = [
        comes_from.get(t, word) if id == target.unk else word
        for t, (id, word) in enumerate(zip(written.ids, alignment.target, strict=True))
    ]
    rest = text[len(target.separator.join(alignment.target)) :]  # a separator, where a stop string followed it
    return target.separator.join(words) + rest, replace(alignment, target=tuple(words))
