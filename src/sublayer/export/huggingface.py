"""Hugging Face's form: a run as a folder that transformers reads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from sublayer.errors import ConfigError, ExportError, listing
from sublayer.interop.catalogue import FAMILIES
from sublayer.interop.family import Family, Head
from sublayer.interop.original import original
from sublayer.interop.pretrained import Pretrained, from_pretrained
from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks.answer import Answer
from sublayer.tasks.base import Task
from sublayer.tasks.classify import Classify
from sublayer.tasks.complete import Complete
from sublayer.tasks.fill import Fill
from sublayer.tasks.spans import FillSpans
from sublayer.tasks.tag import Tag
from sublayer.tasks.translate import Translate
from sublayer.text import PretrainedTokenizer, PublishedSide

TOLERANCE = 1e-3


def export(task: Task, folder: Path, *, check: bool = False) -> str:
    """Write the folder, read it again, compare; what was compared. ConfigError where no family has such a model, or its
    vocabulary is none that was published; `check` asks for that alone."""
    made = published(task)
    if check:
        return f"{made.family.architecture(made.head)} can hold this model."
    if folder.exists():
        raise ConfigError(f"{folder} is there already. Choose another --out.")
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        made.save_pretrained(beside)
        told = _compared(made, beside)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return told


def published(task: Task) -> Pretrained:
    """The task's model as one of a family. ConfigError with the reason why each is none."""
    about, tokenizer, config = _about(task)
    problems: dict[str, list[str]] = {}
    for family, head in _likely(config):
        try:
            theirs = family.settings(config, head, about) | about
        except ConfigError as error:
            problems.setdefault(family.model_type, str(error).splitlines()[1:])
            continue
        return Pretrained(task.model, config, tokenizer, family, head, theirs, ())
    nearest = min(problems, key=lambda name: len(problems[name]), default=None)
    if nearest is None:
        raise ConfigError("hf: no family there has a model like this one.")
    reasons = [line.removeprefix("  - ") for line in problems[nearest]]
    raise ConfigError(listing(f"hf: no family there has such a model. {nearest} comes nearest, but for this:", reasons))


def _likely(config: ModelConfig) -> Iterator[tuple[Family, Head]]:
    """Every family and head of this model's kind."""
    for family in FAMILIES:
        if family.fixed["architecture"] == config.architecture:
            for head in family.heads.values():
                for each in (head, head.otherwise):
                    if each is not None and each.fixed.get("head.kind", "none") == config.head.kind:
                        yield family, each


def _about(task: Task) -> tuple[dict[str, Any], PretrainedTokenizer, ModelConfig]:
    """Settings of theirs that ours has elsewhere, the vocabulary, and the config with the head in it."""
    config = task.config.model_dump()
    about: dict[str, Any] = {}
    tokenizer = getattr(task, "tokenizer", None)
    if isinstance(task, Classify | Tag):
        names = task.labels.names if isinstance(task, Classify) else task.tags
        about["id2label"] = {str(i): name for i, name in enumerate(names)}
        about["label2id"] = {name: i for i, name in enumerate(names)}
        config["head"] = {"kind": "token-classes", "classes": len(names)}
    if isinstance(task, Classify):
        config["head"] = {"kind": "classes", "classes": len(task.labels.names), "pool": task.pool}
        config["head"] |= {} if task.activation is None else {"activation": task.activation}
        kind = "multi_label_classification" if task.labels.several else "single_label_classification"
        about["problem_type"] = kind
    if isinstance(task, Answer):
        config["head"] = {"kind": "span"}
    if isinstance(task, Classify | Tag | Answer) and task.transform is not None:
        config["head"]["transform"] = task.transform
    if isinstance(task, Fill):
        config["head"] = {"kind": "masked-lm"} | task.head
    if isinstance(tokenizer, PublishedSide):
        about |= {"bos_token_id": tokenizer.bos, "eos_token_id": tokenizer.eos}
        tokenizer = tokenizer.own
    if isinstance(task, Translate | FillSpans):
        about = {"decoder_start_token_id": task.target.bos, "eos_token_id": task.target.eos}
    if not isinstance(tokenizer, PretrainedTokenizer):
        raise ConfigError(
            "hf: the vocabulary of this run was learned here, and transformers has no form for it: export runs that "
            "began with a published checkpoint (model.from, or sublayer import)."
        )
    about["pad_token_id"] = tokenizer.eos if tokenizer.pad is None else tokenizer.pad
    if not isinstance(task, Classify | Tag | Complete | Translate | Fill | FillSpans | Answer):
        raise ConfigError(f"hf: a {type(task).__name__} has no counterpart there.")
    return about, tokenizer, ModelConfig.read(config)


@torch.inference_mode()
def _compared(made: Pretrained, folder: Path) -> str:
    again = from_pretrained(folder)
    assert made.tokenizer is not None
    ids = made.tokenizer.inputs("A cat sits on the mat.").ids
    row = torch.tensor([ids])
    two = isinstance(made.model, EncoderDecoder)
    ours, back = (model.eval()(row, row) if two else model.eval()(row) for model in (made.model, again.model))
    if not ours.equal(back):
        raise ExportError("The folder that was written gives other outputs when it is read again. Nothing was kept.")
    name = made.family.architecture(made.head)
    theirs = original(folder, name)
    if theirs is None:
        return f"{name}, read again with equal outputs; not compared with transformers, which is not installed"
    gap = float((theirs.outputs(ids, ids if two else None) - ours.squeeze(0)).abs().max())
    if gap > TOLERANCE * max(1.0, float(ours.abs().max())):
        raise ExportError(f"transformers {theirs.version} gives other outputs, by up to {gap:.1e}. Nothing was kept.")
    return f"{name}, read again with equal outputs; transformers {theirs.version} gives them within {gap:.1e}"
