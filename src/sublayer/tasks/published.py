"""A published folder as the task that it was trained for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sublayer.interop import pretrained
from sublayer.interop.pretrained import Pretrained
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.answer import Answer, Rules
from sublayer.tasks.embed import Embed, Vectors
from sublayer.tasks.fill import Fill
from sublayer.tasks.texts import TextTask
from sublayer.text import PretrainedTokenizer


def from_pretrained(folder_or_name: str | Path, revision: str | None = None) -> Any:
    """What a Hugging Face folder holds, in eval mode and in the type that its numbers are stored in.

    With a vocabulary it is a task that predicts, where it was trained for one: of the sentence-transformers kind an
    `Embed`, whose `predict` gives the vectors, a masked language model a `Fill`, one with a head for spans an `Answer`.
    Others are a `Pretrained`: model, config, tokenizer, `left_out`; of a task that is its `published`. All go back by
    `save_pretrained`.

    folder_or_name  a folder; for anything else, the name of one on the Hub (extra `hf`)
    revision        branch, tag or commit, of a name

    Code in the folder is never run. CheckpointError names every tensor that is missing, left over or misshapen, and
    every setting that has no counterpart here.
    """
    found = pretrained.from_pretrained(folder_or_name, revision)
    make = TASKS.get(found.config.head.kind)
    if make is None or found.tokenizer is None or not isinstance(found.model, EncoderWithHead):
        return found
    task = make(found, found.model, found.tokenizer)
    task.published = found
    return task


def _embed(found: Pretrained, model: EncoderWithHead, tokenizer: PretrainedTokenizer) -> Embed:
    options = found.config.head.options
    vectors = Vectors(options.get("pool", "mean"), options.get("normalize", False))
    task = Embed(model, found.config, tokenizer, vectors, found.longest)
    task.metrics = ("spearman", "pearson")  # type: ignore[misc]
    return task


def _fill(found: Pretrained, model: EncoderWithHead, tokenizer: PretrainedTokenizer) -> Fill:
    return Fill(model, found.config, tokenizer, found.config.head.options)


def _answer(found: Pretrained, model: EncoderWithHead, tokenizer: PretrainedTokenizer) -> Answer:
    return Answer(model, found.config, tokenizer, Rules(), found.config.head.options.get("transform"))


TASKS: dict[str, Callable[[Pretrained, EncoderWithHead, PretrainedTokenizer], TextTask]] = {
    "sentence": _embed,
    "masked-lm": _fill,
    "span": _answer,
}
"""By the head of the model."""
