"""A published model with its head, as a task that predicts as it is."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sublayer.errors import CheckpointError, ConfigError, ExportError
from sublayer.interop.hub import folder_of
from sublayer.interop.original import Original, original
from sublayer.interop.pretrained import Pretrained, from_pretrained
from sublayer.models.heads import EncoderWithHead
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.tasks import published
from sublayer.tasks.base import Task
from sublayer.tasks.bundle import load
from sublayer.tasks.classify import Classify, LabelSet
from sublayer.tasks.complete import Complete
from sublayer.tasks.recipe import Recipe
from sublayer.tasks.recipes import CompleteRecipe
from sublayer.tasks.sections import Published
from sublayer.tasks.starting import pair_of, writer_of
from sublayer.tasks.tag import Tag
from sublayer.tasks.texts import TextTask
from sublayer.tasks.translate import Translate
from sublayer.text import PretrainedTokenizer

TEXTS = ("A cat sits on the mat.", "Кошка, 貓 & naïve 🦊", "odd  spaces\tand 3.14!")
TOLERANCE = 1e-3
"""Of the largest output, and of the smallest that counts: between two orders of the same sums in fp32."""


@dataclass(frozen=True)
class Wanted:
    """What a folder does not say of itself.

    texts      that a classifier reads at once: one, or a pair
    languages  as `model.languages` in a recipe
    """

    texts: int = 1
    languages: tuple[str, str] | None = None


def bring(name: str, out: Path, revision: str | None = None, wanted: Wanted | None = None) -> list[str]:
    """Write the folder `out`, which `sublayer.load` reads; a line for each thing that was compared before.

    CheckpointError where the folder cannot be read, or has no head that a task is for; ExportError where the model that
    was written does not say what transformers says: then nothing is kept.
    """
    if out.exists():
        raise ConfigError(f"{out} is there already. Choose another folder.")
    folder = folder_of(name, revision)
    found = from_pretrained(folder)
    if found.tokenizer is None:
        raise CheckpointError(f"{name} holds no vocabulary that can be read.")
    beside = out.with_name(f".{out.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        task_of(found, name, wanted or Wanted()).save_pretrained(beside)
        told = _compared(found, found.tokenizer, load(beside), folder)
        beside.rename(out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return told


def task_of(found: Pretrained, name: str, wanted: Wanted) -> Task:
    """CheckpointError for a model whose head no task is for."""
    kind = found.config.architecture if found.config.head.kind == "none" else found.config.head.kind
    if kind not in TASKS:
        raise CheckpointError(
            f"{name} holds {found.family.model_type} that gives {GIVES.get(kind, 'states')}, and no task predicts with "
            f"that as it is. Tune it: sublayer train --task classify --set model.from={name} …; or read it in Python: "
            "sublayer.from_pretrained."
        )
    found.model.float()
    return TASKS[kind](found, Published.model_validate({"from": name, "languages": wanted.languages}), wanted)


GIVES = {"replaced": "replaced words"}


def _classify(found: Pretrained, about: Published, wanted: Wanted) -> Classify:
    assert isinstance(found.model, EncoderWithHead) and found.tokenizer is not None
    several = found.theirs.get("problem_type") == "multi_label_classification"
    labels = LabelSet(_labels(found.theirs), wanted.texts, several, "|")
    options = found.config.head.options
    config = found.config.model_copy(update={"head": type(found.config)().head})
    read = (options["pool"], options.get("activation"), options.get("transform"))
    return Classify(found.model, config, found.tokenizer, labels, *read)


def _tag(found: Pretrained, about: Published, wanted: Wanted) -> Tag:
    assert isinstance(found.model, EncoderWithHead) and found.tokenizer is not None
    config = found.config.model_copy(update={"head": type(found.config)().head})
    transform = found.config.head.options.get("transform")
    return Tag(found.model, config, found.tokenizer, _labels(found.theirs), transform)


def _complete(found: Pretrained, about: Published, wanted: Wanted) -> Complete:
    context = found.theirs.get("max_position_embeddings") or found.config.max_len
    return Complete(found.model, found.config, writer_of(found, about), int(context), CompleteRecipe().search)  # type: ignore[arg-type]


def _translate(found: Pretrained, about: Published, wanted: Wanted) -> Translate:
    assert isinstance(found.model, EncoderDecoder)
    return Translate(found.model, found.config, *pair_of(found, about), Recipe().search)


def _as_it_is(found: Pretrained, about: Published, wanted: Wanted) -> TextTask:
    assert isinstance(found.model, EncoderWithHead) and found.tokenizer is not None
    task = published.TASKS[found.config.head.kind](found, found.model, found.tokenizer)
    task.config = found.config.model_copy(update={"head": type(found.config)().head})
    return task


TASKS: Mapping[str, Callable[[Pretrained, Published, Wanted], Task]] = {
    **dict.fromkeys(published.TASKS, _as_it_is),
    "classes": _classify,
    "token-classes": _tag,
    "decoder": _complete,
    "encoder-decoder": _translate,
}
"""By what a model's head is, or by the architecture of one without."""


def _labels(theirs: Mapping[str, Any]) -> tuple[str, ...]:
    held = theirs.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
    return tuple(str(held[key]) for key in sorted(held, key=int))


def _compared(found: Pretrained, tokenizer: PretrainedTokenizer, task: Task, folder: Path) -> list[str]:
    read = [tokenizer.inputs(text).ids for text in TEXTS]
    ours = [_outputs(task.model, ids) for ids in read]
    if any(not a.equal(_outputs(found.model, ids)) for a, ids in zip(ours, read, strict=True)):
        raise ExportError("The model that was written is not the one that was read. Nothing was kept.")
    together = torch.cat([x.flatten() for x in ours])
    count = len(found.model.state_dict())
    return [
        f"{found.family.model_type}, {found.family.architecture(found.head)}: {count} tensors, each from the file",
        f"left out: {', '.join(found.left_out) or 'nothing'}",
        *(f"ids of {text!r}: {' '.join(map(str, ids))}" for text, ids in zip(TEXTS, read, strict=True)),
        f"outputs: {len(together):,} numbers, mean {together.mean():.6f}, deviation {together.std():.6f}",
        _against(original(folder, found.family.architecture(found.head)), read, ours, task.model),
    ]


def _against(theirs: Original | None, read: list[list[int]], ours: list[Tensor], model: Any) -> str:
    if theirs is None:
        return "not compared with transformers, which is not installed"
    same = [theirs.ids(text) for text in TEXTS]
    if same != read and None not in same:
        raise ExportError(f"transformers reads {TEXTS} as {same}, not as above: {read}. Nothing was kept.")
    said = [theirs.outputs(ids, ids if isinstance(model, EncoderDecoder) else None) for ids in read]
    gap = max(float((a.squeeze(0) - b).abs().max()) for a, b in zip(ours, said, strict=True))
    if gap > TOLERANCE * max(1.0, *(float(b.abs().max()) for b in said)):
        raise ExportError(f"transformers {theirs.version} gives other outputs, by up to {gap:.1e}. Nothing was kept.")
    ids = "ids not compared" if None in same else "ids equal"
    return f"transformers {theirs.version}: {ids}, outputs within {gap:.1e}"


@torch.inference_mode()
def _outputs(model: Any, ids: list[int]) -> Tensor:
    row = torch.tensor([ids])
    made: Tensor = model(row, row) if isinstance(model, EncoderDecoder) else model(row)
    return made
