"""A published folder by its name."""

from pathlib import Path

from sublayer.errors import CheckpointError, ConfigError

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
