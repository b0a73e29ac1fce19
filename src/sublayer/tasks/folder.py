"""What a run folder holds: recipe.yaml, config.json, model.safetensors, tokenizer.json (and target_tokenizer.json where
the sides differ), task.json, metrics.jsonl, checkpoints/, samples/. None of it is code."""

from pathlib import Path

from sublayer.models.config import ModelConfig
from sublayer.models.files import write_json
from sublayer.tasks.search import Search
from sublayer.text import Tokenizer

FORMAT = 1


def write_task(folder: Path, config: ModelConfig, source: Tokenizer, target: Tokenizer, search: Search) -> None:
    """config.json, the tokenizers, one where both sides share it, and task.json."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config.model_dump(mode="json", exclude_none=True))
    source.save(folder / "tokenizer.json")
    shared = target is source
    if not shared:
        target.save(folder / "target_tokenizer.json")
    about = {"format": FORMAT, "task": "translate", "shared": shared, "search": search.model_dump(mode="json")}
    write_json(folder / "task.json", about)
