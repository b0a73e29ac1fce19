"""Sensible settings from the data, for all that a recipe leaves open. Every choice is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sublayer.data import Pair
from sublayer.models.config import ModelConfig
from sublayer.tasks import sections
from sublayer.tasks.recipe import Recipe, Text, Train
from sublayer.tasks.sections import AnyRecipe, Published, Side


@dataclass
class Choices:
    """A whole recipe, and a line for each thing that was picked."""

    recipe: AnyRecipe
    told: list[str] = field(default_factory=list)


def fill_in(recipe: Recipe, pairs: Sequence[Pair]) -> Choices:
    """Kinds of tokens, model and training for these pairs."""
    told: list[str] = []
    recipe = recipe.model_copy(update={"text": _text(recipe.text, pairs, told)})
    steps = recipe.train.steps if recipe.train is not None and "steps" in recipe.train.model_fields_set else None
    return filled(recipe, Train, _model(len(pairs)), _train(recipe.text, pairs, steps), told, f"{len(pairs):,} pairs")


def filled(
    recipe: AnyRecipe,
    train: type[sections.Train],
    sizes: dict[str, Any],
    settings: dict[str, Any],
    told: list[str],
    of: str,
) -> Choices:
    """The recipe with these sizes and settings where it leaves them open; `told` grows by what was picked.

    of  what it was picked for, for the lines that tell it
    """
    model = recipe.model if isinstance(recipe.model, Published) else _sized(recipe, sizes, told, of)
    given = {} if recipe.train is None else recipe.train.model_dump(exclude_unset=True)
    whole = train.model_validate(settings | given)
    if settings.keys() - given:
        told.append(
            f"train: {whole.steps:,} updates of {whole.batch_tokens:,} tokens, best by {whole.metric}; "
            "change them with --set train.steps=…"
        )
    return Choices(recipe.model_copy(update={"model": model, "train": whole}), told)


def _sized(recipe: AnyRecipe, sizes: dict[str, Any], told: list[str], of: str) -> ModelConfig:
    given = {} if recipe.model is None else recipe.model.model_dump(exclude_unset=True)
    model = ModelConfig.read({"architecture": recipe.architecture} | sizes | given)
    if sizes.keys() - given:
        layers = {"encoder": [model.encoder_layers], "decoder": [model.decoder_layers]}.get(
            model.architecture, [model.encoder_layers, model.decoder_layers]
        )
        told.append(
            f"model: {' + '.join(map(str, layers))} layers of width {model.d_model}, dropout {model.dropout:g}, "
            f"for {of}"
        )
    return model


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
