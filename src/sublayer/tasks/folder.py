"""What a run folder holds: recipe.yaml, config.json, model.safetensors, tokenizer.json (and target_tokenizer.json where
two sides differ), task.json, metrics.jsonl, checkpoints/, samples/. None of it is code."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sublayer.models.config import ModelConfig
from sublayer.models.files import read_json, write_json, write_text

FORMAT = 1
ENDINGS = {"ForMaskedLM": "fill", "BertForPreTraining": "fill", "ForQuestionAnswering": "answer"}


def published_task(folder: Path) -> str | None:
    """The task that a published folder is for, by what its files say; None for a run folder, and for one of no task."""
    if (folder / "task.json").exists() or not (folder / "config.json").exists():
        return None
    if (folder / "modules.json").exists():
        return "embed"
    for architecture in read_json(folder / "config.json").get("architectures") or ():
        for ending, task in (
            ("ForMaskedLM", "fill"),
            ("BertForPreTraining", "fill"),
            ("ForQuestionAnswering", "answer"),
        ):
            if str(architecture).endswith(ending):
                return task
    return None


def write_sample(run: Path, rows: Iterable[Sequence[str]]) -> None:
    """samples/valid.tsv: a line for each of these rows of cells."""
    (run / "samples").mkdir(exist_ok=True)
    write_text(run / "samples" / "valid.tsv", "".join("\t".join(row) + "\n" for row in rows))


def write_task(folder: Path, task: str, config: ModelConfig, about: dict[str, Any]) -> None:
    """config.json, and task.json with what else the task is about."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config.model_dump(mode="json", exclude_none=True))
    write_json(folder / "task.json", {"format": FORMAT, "task": task, **about})
