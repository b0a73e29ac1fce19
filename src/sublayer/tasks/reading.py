"""From hypotheses to what is handed over: text, tokens, and what the words come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from sublayer.generate import Hypothesis
from sublayer.tasks.aligning import Reader, align
from sublayer.tasks.base import Alignment, Prediction
from sublayer.tasks.search import Search
from sublayer.text import AnyTokenizer, Words


class Bilingual(Reader, Protocol):
    source: AnyTokenizer
    target: AnyTokenizer


def predictions(
    task: Bilingual, asked: Sequence[tuple[str, Hypothesis]], search: Search, alignments: bool
) -> list[Prediction]:
    """Of lines and hypotheses for them.

    With `search.replace_unknown` an unknown word reads as the source word that it comes from (Luong et al. 2015,
    Jean et al. 2015); its token, its log-probability and its link stay.
    """
    target = task.target
    plain = [Prediction.of(h, target, search.stop_strings) for _, h in asked]
    texts = [answer.text for answer in plain]
    aligned: Sequence[Alignment | None] = [None] * len(asked)
    if alignments or search.replace_unknown:
        words = [target.words_of(h.tokens, text) for (_, h), text in zip(asked, texts, strict=True)]
        aligned = align(task, [(task.source.words(line), w) for (line, _), w in zip(asked, words, strict=True)])
        if search.replace_unknown:
            copied = [copy(text, w, a, target) for text, w, a in zip(texts, words, aligned, strict=True)]
            texts, aligned = [text for text, _ in copied], [a for _, a in copied]
    return [
        replace(answer, text=text, alignment=alignment if alignments else None)
        for answer, text, alignment in zip(plain, texts, aligned, strict=True)
    ]


def copy(text: str, written: Words, alignment: Alignment, target: AnyTokenizer) -> tuple[str, Alignment]:
    """The text and its alignment, one word a token, with source words for unknown ones; one without a link stays."""
    comes_from = {t: alignment.source[s] for s, t in alignment.links}
    words = [
        comes_from.get(t, word) if id == target.unk else word
        for t, (id, word) in enumerate(zip(written.ids, alignment.target, strict=True))
    ]
    rest = text[len(target.separator.join(alignment.target)) :]  # a separator, where a stop string followed it
    return target.separator.join(words) + rest, replace(alignment, target=tuple(words))
