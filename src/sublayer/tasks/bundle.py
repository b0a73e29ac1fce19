"""From a run folder to a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sublayer.errors import CheckpointError, ConfigError
from sublayer.models.build import build
from sublayer.models.config import KINDS, ModelConfig
from sublayer.models.files import read_json
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.models.store import load_weights
from sublayer.tasks.folder import FORMAT
from sublayer.tasks.search import Search
from sublayer.tasks.translate import Translate
from sublayer.text import Tokenizer


def load(run: str | Path, *, weights: bool = True, trust_code: bool = False) -> Translate:
    """The task object of a run folder, ready to predict. CheckpointError where something is missing or wrong.

    trust_code  let config.json name classes of your own, `package.module:Class`: for folders that you made
    """
    folder = Path(run)
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is no run folder: there is no such folder.")
    about = read_json(folder / "task.json")
    if about.get("format") != FORMAT or about.get("task") != "translate":
        raise CheckpointError(
            f"{folder / 'task.json'} says format {about.get('format')!r}, task {about.get('task')!r}; "
            f"this version reads format {FORMAT}, task 'translate'."
        )
    search = _search(folder / "task.json", about.get("search", {}))
    config = _config(folder / "config.json", trust_code)
    source = Tokenizer.load(folder / "tokenizer.json")
    target = source if about.get("shared") else Tokenizer.load(folder / "target_tokenizer.json")
    model = build(config)
    assert isinstance(model, EncoderDecoder)
    if weights:
        load_weights(model, folder / "model.safetensors")
    return Translate(model.eval(), config, source, target, search)


def _config(path: Path, trust_code: bool) -> ModelConfig:
    try:
        config = ModelConfig.read(read_json(path))
    except ConfigError as error:
        raise CheckpointError(f"{path}: {error}") from None
    own = [kind for part in KINDS if ":" in (kind := getattr(config, part).kind)]
    if own and not trust_code:
        raise CheckpointError(
            f"{path} names code to be imported: {', '.join(own)}. If the run is yours, say so: trust_code=True, "
            "on the command line --trust-code."
        )
    if config.architecture != "encoder-decoder":
        raise CheckpointError(f"{path}: task 'translate' needs an encoder-decoder, not {config.architecture!r}.")
    return config


def _search(path: Path, values: Any) -> Search:
    try:
        return Search.model_validate(values)
    except ValidationError as error:
        raise CheckpointError(f"{path}: search: {error.errors()[0]['msg']}.") from None
