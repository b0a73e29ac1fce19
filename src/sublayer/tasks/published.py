"""A published folder as the task that it was trained for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sublayer.interop import pretrained
from sublayer.interop.pretrained import Pretrained
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.base import Task
from sublayer.tasks.embed import Embed, Vectors
from sublayer.text import PretrainedTokenizer


def from_pretrained(folder_or_name: str | Path, revision: str | None = None) -> Any:
    """What a Hugging Face folder holds, in eval mode and in the type that its numbers are stored in.

    Of a folder of the sentence-transformers kind an `Embed`, whose `predict` gives the vectors, with the vocabulary
    that it needs; else a `Pretrained`: model, config, tokenizer and `left_out`. Both go back by `save_pretrained`.

    folder_or_name  a folder; for anything else, the name of one on the Hub (extra `hf`)
    revision        branch, tag or commit, of a name

    Code in the folder is never run. CheckpointError names every tensor that is missing, left over or misshapen, and
    every setting that has no counterpart here.
    """
    found = pretrained.from_pretrained(folder_or_name, revision)
    make = TASKS.get(found.config.head.kind)
    return found if make is None or found.tokenizer is None else make(found, found.tokenizer)


def _embed(found: Pretrained, tokenizer: PretrainedTokenizer) -> Embed:
    assert isinstance(found.model, EncoderWithHead)
    options = found.config.head.options
    vectors = Vectors(options.get("pool", "mean"), options.get("normalize", False))
    task = Embed(found.model, found.config, tokenizer, vectors, found.longest)
    task.metrics = ("spearman", "pearson")  # type: ignore[misc]
    task.published = found
    return task


TASKS: dict[str, Callable[[Pretrained, PretrainedTokenizer], Task]] = {"sentence": _embed}
"""By the head of the model."""
