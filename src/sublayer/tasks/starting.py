"""What tuning starts from: a published model with its vocabulary."""

from __future__ import annotations

from typing import Any

from sublayer.errors import CheckpointError, ConfigError
from sublayer.interop.catalogue import FAMILIES
from sublayer.interop.pretrained import Pretrained, from_pretrained
from sublayer.models.build import Model
from sublayer.models.config import ModelConfig, Part
from sublayer.models.heads import EncoderWithHead
from sublayer.models.outline import outline
from sublayer.models.store import place, weights
from sublayer.tasks.prepare import seed, seeded
from sublayer.tasks.sections import Published, Train
from sublayer.text import PretrainedTokenizer


def published(about: Published, architecture: str, train: Train) -> tuple[Model, ModelConfig, PretrainedTokenizer]:
    """The model in fp32, without the head of an encoder, its whole config, and its vocabulary. Generators are seeded.

    ConfigError where it is of another architecture than the task needs, CheckpointError where it cannot be read.
    """
    found = from_pretrained(about.source, about.revision)
    _fit(found, about.source, architecture)
    assert found.tokenizer is not None
    body = found.model.body if isinstance(found.model, EncoderWithHead) else found.model
    config = ModelConfig.read(found.config.model_dump() | {"head": "none"} | about.changes)
    seed(train)
    model = outline(config)
    place(model, {name: tensor.float() for name, tensor in weights(body).items()}, about.source)
    return model, config, found.tokenizer


def with_head(
    about: Published, kind: str, train: Train
) -> tuple[EncoderWithHead, ModelConfig, PretrainedTokenizer, dict[str, Any]]:
    """The model in fp32 with a head of this kind: the checkpoint's own where it has such a one, else a fresh one. The
    config is that of the body; options of the head come last."""
    found = from_pretrained(about.source, about.revision)
    _fit(found, about.source, "encoder")
    assert found.tokenizer is not None
    own = found.config.head.kind == kind
    options = found.config.head.options if own else {}
    config = ModelConfig.read(found.config.model_dump() | {"head": "none"} | about.changes)
    model = seeded(config.model_copy(update={"head": Part(kind=kind, **options)}), train)
    assert isinstance(model, EncoderWithHead)
    body = found.model.body if isinstance(found.model, EncoderWithHead) else found.model
    place(model if own else model.body, weights(found.model if own else body), about.source)
    return model, config, found.tokenizer, options


def _fit(found: Pretrained, source: str, architecture: str) -> None:
    kind = found.config.architecture
    if kind != architecture:
        known = sorted({family.model_type for family in FAMILIES if family.fixed["architecture"] == architecture})
        raise ConfigError(
            f"model.from: the task needs {_a(architecture)}, and {source} holds {found.family.model_type}, {_a(kind)}. "
            f"Name a checkpoint of {', '.join(known)}."
        )
    if found.tokenizer is None:
        raise CheckpointError(
            f"model.from: {source} holds no vocabulary that can be read: tokenizer.json, vocab.txt, or vocab.json and "
            "merges.txt."
        )
    room = min(v for v in (found.config.source_vocab, found.config.target_vocab) if v is not None)
    if len(found.tokenizer) > room:
        raise CheckpointError(
            f"model.from: the vocabulary of {source} has {len(found.tokenizer):,} tokens and its model {room:,}: these "
            "files do not belong together."
        )


def _a(noun: str) -> str:
    return f"an {noun}" if noun.startswith("e") else f"a {noun}"
