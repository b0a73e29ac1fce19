"""Sensible settings from the data, for all that a recipe leaves open. Every choice is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sublayer.data import Pair
from sublayer.models.config import ModelConfig
from sublayer.tasks.recipe import Recipe, Side, Text, Train


@dataclass
class Choices:
    """A whole recipe, and a line for each thing that was picked."""

    recipe: Recipe
    told: list[str] = field(default_factory=list)


def fill_in(recipe: Recipe, pairs: Sequence[Pair]) -> Choices:
    """Kinds of tokens, model and training for these pairs."""
    told: list[str] = []
    text = _text(recipe.text, pairs, told)
    given = {} if recipe.model is None else recipe.model.model_dump(exclude_unset=True)
    picked = _model(len(pairs))
    model = ModelConfig.read(picked | given)
    if picked.keys() - given:
        told.append(
            f"model: {model.encoder_layers} + {model.decoder_layers} layers of width {model.d_model}, dropout "
            f"{model.dropout:g}, for {len(pairs):,} pairs"
        )
    given = {} if recipe.train is None else recipe.train.model_dump(exclude_unset=True)
    picked = _train(text, pairs, given.get("steps"))
    train = Train.model_validate(picked | given)
    if picked.keys() - given:
        told.append(
            f"train: {train.steps:,} updates of {train.batch_tokens:,} tokens, best by {train.metric}; "
            "change them with --set train.steps=…"
        )
    return Choices(recipe.model_copy(update={"text": text, "model": model, "train": train}), told)


def _text(text: Text, pairs: Sequence[Pair], told: list[str]) -> Text:
    sides = {}
    for name in ("source", "target"):
        side: Side = getattr(text, name)
        if side.kind == "auto":
            texts = [getattr(pair, name) for pair in pairs]
            kind, why = _kind(texts)
            picks_size = kind == "bpe" and "vocab_size" not in side.model_fields_set
            side = side.model_copy(update={"kind": kind, **({"vocab_size": _vocab(texts)} if picks_size else {})})
            told.append(f"text.{name}: {kind}, {why}")
        sides[name] = side
    return text.model_copy(update=sides)


def _kind(texts: Sequence[str]) -> tuple[str, str]:
    """What the texts are made of."""
    if sum("#" in t and ";" in t.rpartition("#")[2] for t in texts) > 0.9 * len(texts):
        return "features", "since nearly every text is lemma#FEATURE;FEATURE"
    words = [t.split(" ") for t in texts]
    total, distinct = sum(map(len, words)), len({w for row in words for w in row})
    a_line, a_word = total / len(texts), sum(len(w) for row in words for w in row) / total
    if a_line > 1.5 and distinct < 400 and distinct < 0.05 * total and a_word < 4:
        return "split", f"since the texts are made of only {distinct} different short words"
    if a_line < 2.5:
        return "char", f"since a text has {a_line:.1f} words on average"
    return "bpe", f"since a text has {a_line:.1f} words on average"


def _vocab(texts: Sequence[str]) -> int:
    """A subword for about every 100 words of running text, between 1,000 and 16,000."""
    words = sum(t.count(" ") + 1 for t in texts)
    return max(1000, min(16000, words // 100 // 500 * 500))


def _model(pairs: int) -> dict[str, Any]:
    """The more pairs, the larger, and the less dropout."""
    if pairs < 2000:
        return dict(d_model=128, encoder_layers=2, decoder_layers=2, dropout=0.3)
    if pairs < 20000:
        return dict(d_model=192, encoder_layers=3, decoder_layers=2, dropout=0.3)
    if pairs < 200000:
        return dict(d_model=256, encoder_layers=4, decoder_layers=3, dropout=0.2)
    return dict(d_model=512, num_heads=8, encoder_layers=6, decoder_layers=6, dropout=0.1)


def _train(text: Text, pairs: Sequence[Pair], steps: int | None) -> dict[str, Any]:
    """Updates of 2,048 tokens: small ones learn more from the same tokens. About 40 passes over small data, 12 over
    large, within 1,500 and 20,000 updates, where `steps` is left open."""
    subwords = text.target.kind in ("bpe", "unigram", "wordpiece", "word")
    characters = sum(len(p.target) for p in pairs)
    tokens = characters // 4 if subwords else characters // 2
    passes = 40 if len(pairs) < 20000 else 12
    steps = steps or max(1500, min(20000, passes * tokens // 2048))
    every = max(100, steps // 10)
    return dict(
        steps=steps,
        batch_tokens=2048,
        warmup=min(400, steps // 10),
        validate_every=every,
        save_every=every,
        validate_metrics=["bleu", "chrf"] if subwords else ["exact", "cer"],
    )
