"""Sensible settings for tasks that read texts with an encoder, for all that a recipe leaves open."""

from collections.abc import Sequence
from typing import Any

from sublayer.tasks.sections import Train, Words


def words_kind(words: Words, texts: Sequence[str], told: list[str]) -> Words:
    """Words with their n-grams; characters for texts without spaces."""
    if words.kind != "auto":
        return words
    a_text = sum(len(text.split()) for text in texts) / max(len(texts), 1)
    characters = a_text < 1.5
    told.append(f"text: {'char' if characters else 'ngrams'}, since a text has {a_text:.1f} words on average")
    picked: dict[str, Any] = {"kind": "char" if characters else "ngrams"}
    if not characters and "min_count" not in words.model_fields_set:
        picked["min_count"] = 2  # so that unknown words are met in training
    return words.model_copy(update=picked)


def text_model(texts: int) -> dict[str, Any]:
    """The more texts, the larger, and the less dropout."""
    if texts < 20000:
        return dict(d_model=128, encoder_layers=2, dropout=0.3)
    if texts < 200000:
        return dict(d_model=192, encoder_layers=3, dropout=0.2)
    return dict(d_model=256, encoder_layers=4, dropout=0.1)


def few_texts(texts: int, train: Train | None) -> dict[str, Any]:
    """About 30 passes, within 600 and 6,000 updates, where `steps` is left open; small batches, for small data."""
    given = train is not None and "steps" in train.model_fields_set
    steps = train.steps if given and train is not None else max(600, min(6000, 30 * texts // 40))
    return dict(batch_tokens=512, warmup=min(200, steps // 10)) | _times(steps)


def tuned_texts(texts: int, train: Train | None) -> dict[str, Any]:
    """About 4 passes, within 300 and 10,000 updates, where `steps` is left open, at a rate that keeps what the model
    knows. Devlin et al. 2019, appendix A.3."""
    given = train is not None and "steps" in train.model_fields_set
    steps = train.steps if given and train is not None else max(300, min(10000, 4 * texts // 32))
    return dict(
        batch_tokens=512,
        learning_rate=1e-4,
        schedule="linear",
        warmup=steps // 10,
        betas=(0.9, 0.999),
        weight_decay=0.01,
        label_smoothing=0.0,
    ) | _times(steps)


def _times(steps: int) -> dict[str, Any]:
    every = max(50, steps // 10)
    return dict(steps=steps, validate_every=every, save_every=every)
