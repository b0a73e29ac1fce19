"""A published folder by its name."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sublayer.errors import CheckpointError, ConfigError
from sublayer.models.files import write_text

WANTED = ["*.json", "*.safetensors", "pytorch_model*.bin", "*.txt", "*.model", "*.spm"]
"""Weights, settings and vocabularies; no code."""


def folder_of(folder_or_name: str | Path, revision: str | None = None) -> Path:
    """The folder itself; for anything else, that of this name on the Hub."""
    folder = Path(folder_or_name)
    return folder if folder.is_dir() else snapshot(str(folder_or_name), revision)


def snapshot(name: str, revision: str | None = None) -> Path:
    """Where the folder lies on this machine, fetched if need be. ConfigError without the extra `hf`."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise ConfigError(
            f"{name} is no folder here, and fetching one by name needs huggingface_hub: pip install 'sublayer[hf]'."
        ) from None
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=WANTED))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        first = str(error).strip().splitlines()[0]
        raise CheckpointError(f"{name} is no folder here and cannot be fetched by that name: {first}") from None


def push(name: str, write: Callable[[Path], None], card: str, *, private: bool, api: Any = None) -> str:
    """Send the files that `write` makes in a folder, and the card; where they stand then.

    api  `huggingface_hub.HfApi()`, with the token of `hf auth login`, by default

    ConfigError without the extra `hf`, or where the Hub refuses.
    """
    if api is None:
        try:
            from huggingface_hub import HfApi
        except ImportError:
            raise ConfigError("push_to_hub needs huggingface_hub: pip install 'sublayer[hf]'.") from None
        api = HfApi()
    with TemporaryDirectory() as folder:
        write(Path(folder))
        write_text(Path(folder) / "README.md", card)
        try:
            api.create_repo(repo_id=name, private=private, exist_ok=True)
            sent = api.upload_folder(repo_id=name, folder_path=folder, commit_message="Sent by Sublayer")
        except (OSError, ValueError) as error:  # what the library raises for the network and for names
            raise ConfigError(f"{name} cannot be sent: {str(error).strip().splitlines()[0]}") from None
    return str(sent)
