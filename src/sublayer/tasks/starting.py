"""What tuning starts from: a published model with its vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sublayer.errors import CheckpointError, ConfigError, nearest
from sublayer.interop.catalogue import FAMILIES
from sublayer.interop.pretrained import Pretrained, from_pretrained
from sublayer.models.build import Model
from sublayer.models.config import ModelConfig, Part
from sublayer.models.heads import EncoderWithHead
from sublayer.models.outline import outline
from sublayer.models.store import place, weights
from sublayer.tasks.prepare import seed, seeded
from sublayer.tasks.sections import Published, Train
from sublayer.text import PretrainedTokenizer, PublishedSide
from sublayer.text.pretrained import ROLES

START = "decoder_start_token_id"
AFTER_PADDING = ("t5", "mt5", "umt5", "marian")
"""Families whose answers are written after the padding token where nothing is said, not after </s>."""


def published(about: Published, architecture: str, train: Train) -> tuple[Model, ModelConfig, PretrainedTokenizer]:
    """The model in fp32, without the head of an encoder, its whole config, and its vocabulary. Generators are seeded.

    ConfigError where it is of another architecture than the task needs, CheckpointError where it cannot be read.
    """
    found = read(about, architecture)
    assert found.tokenizer is not None
    return *_model(found, about, train), found.tokenizer


def published_writer(about: Published, train: Train) -> tuple[Model, ModelConfig, PublishedSide]:
    """The same for a language model."""
    found = read(about, "decoder")
    target = writer_of(found, about)
    return *_model(found, about, train), target


def published_pair(about: Published, train: Train) -> tuple[Model, ModelConfig, PublishedSide, PublishedSide]:
    """The same for an encoder-decoder: what it reads and what it writes."""
    return with_sides(read(about, "encoder-decoder"), about, train)


def with_sides(
    found: Pretrained, about: Published, train: Train
) -> tuple[Model, ModelConfig, PublishedSide, PublishedSide]:
    """`published_pair` of what has been read."""
    sides = pair_of(found, about)
    return *_model(found, about, train), *sides


def writer_of(found: Pretrained, about: Published) -> PublishedSide:
    """The vocabulary of a language model. CheckpointError where it does not know how a text ends."""
    vocabulary = found.tokenizer
    if vocabulary is None or vocabulary.eos is None:
        raise CheckpointError(f"model.from: the vocabulary of {about.source} has no eos_token, which ends a text.")
    bos = vocabulary.eos if vocabulary.bos is None else vocabulary.bos
    return PublishedSide(vocabulary, bos=bos, eos=vocabulary.eos)


def pair_of(found: Pretrained, about: Published) -> tuple[PublishedSide, PublishedSide]:
    """The vocabulary of an encoder-decoder as it reads and as it writes. CheckpointError where it does not know how an
    answer begins or ends, ConfigError where it has to be told the languages."""
    vocabulary = found.tokenizer
    assert vocabulary is not None
    usual = vocabulary.pad if found.family.model_type in AFTER_PADDING else vocabulary.eos
    starts = (found.theirs.get(START), found.writing.get(START), usual)
    start = next((id for id in starts if id is not None), None)
    if start is None:
        raise CheckpointError(f"model.from: {about.source} does not say what an answer is written after: {START}.")
    return _sides(about, vocabulary, start)


def _sides(about: Published, vocabulary: PretrainedTokenizer, start: int) -> tuple[PublishedSide, PublishedSide]:
    """Both are framed as texts are in `inputs`. A language in there is the source's or the target's; where it stands at
    the end of a source, answers are written after that of the target. Liu et al. 2020, section 2.2."""
    before, behind = vocabulary.around()
    if not behind:
        raise CheckpointError(f"model.from: the vocabulary of {about.source} puts nothing at the end of a text.")
    *after, end = behind
    usual = {getattr(vocabulary, role) for role in ROLES}
    named = {id for id in (*before, *behind) if id not in usual}
    source, target = _languages(about, vocabulary, named)

    def put(ids: Sequence[int], language: int) -> list[int]:
        return [language if id in named else id for id in ids]

    reads = PublishedSide(
        vocabulary, before=put(before, source), after=put(after, source), bos=start, eos=put([end], source)[0]
    )
    if end in named:
        return reads, PublishedSide(vocabulary, bos=target, eos=after[-1])
    return reads, PublishedSide(vocabulary, before=put(before, target), after=put(after, target), bos=start, eos=end)


def _languages(about: Published, vocabulary: PretrainedTokenizer, named: set[int]) -> tuple[int, int]:
    source = about.source
    if about.languages is None:
        if named:
            spelled = vocabulary.piece(min(named))
            raise ConfigError(
                f"model.languages is not set: {source} is for several languages. Name the tokens of the source's and "
                f"of the target's, as {spelled!r} is one: --set 'model.languages=[{spelled}, {spelled}]'."
            )
        return 0, 0
    if not named:
        raise ConfigError(f"model.languages: the vocabulary of {source} puts no language beside a text: leave it out.")
    known = {token: id for id, token in enumerate(vocabulary.vocabulary)}
    for language in about.languages:
        if language not in known:
            raise ConfigError(f"model.languages: {source} has no token {language!r}. {nearest(language, known)}")
    return known[about.languages[0]], known[about.languages[1]]


def _model(found: Pretrained, about: Published, train: Train) -> tuple[Model, ModelConfig]:
    body = found.model.body if isinstance(found.model, EncoderWithHead) else found.model
    config = ModelConfig.read(found.config.model_dump() | {"head": "none"} | about.changes)
    seed(train)
    model = outline(config)
    place(model, {name: tensor.float() for name, tensor in weights(body).items()}, about.source)
    return model, config


def with_head(
    found: Pretrained, about: Published, kind: str, train: Train
) -> tuple[EncoderWithHead, ModelConfig, PretrainedTokenizer, dict[str, Any]]:
    """The encoder that has been read, in fp32, with a head of this kind: the checkpoint's own where it has such a one,
    else a fresh one. The config is that of the body; options of the head come last."""
    assert found.tokenizer is not None
    own = found.config.head.kind == kind
    options = found.config.head.options if own else {}
    config = ModelConfig.read(found.config.model_dump() | {"head": "none"} | about.changes)
    model = seeded(config.model_copy(update={"head": Part(kind=kind, **options)}), train)
    assert isinstance(model, EncoderWithHead)
    body = found.model.body if isinstance(found.model, EncoderWithHead) else found.model
    place(model if own else model.body, weights(found.model if own else body), about.source)
    return model, config, found.tokenizer, options


def read(about: Published, *architectures: str) -> Pretrained:
    """The checkpoint, which has a vocabulary. Errors as of `published`; any of these architectures will do."""
    found, source = from_pretrained(about.source, about.revision), about.source
    kind = found.config.architecture
    if kind not in architectures:
        known = sorted({family.model_type for family in FAMILIES if family.fixed["architecture"] in architectures})
        raise ConfigError(
            f"model.from: the task needs {' or '.join(map(_a, architectures))}, and {source} holds "
            f"{found.family.model_type}, {_a(kind)}. "
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
    return found


def _a(noun: str) -> str:
    return f"an {noun}" if noun.startswith("e") else f"a {noun}"
