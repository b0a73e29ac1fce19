"""The original of a published model, run by transformers where that is installed. No code of a folder is run."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor


class Original:
    """version  of transformers
    tokenizer  None where theirs cannot be made from the folder
    """

    def __init__(self, version: str, model: Any, tokenizer: Any) -> None:
        self.version, self.model, self.tokenizer = version, model, tokenizer

    def ids(self, text: str) -> list[int] | None:
        """With special tokens, as the model reads it."""
        return None if self.tokenizer is None else list(self.tokenizer(text)["input_ids"])

    @torch.inference_mode()
    def outputs(self, ids: Sequence[int], written: Sequence[int] | None) -> Tensor:
        """Logits of one text, or (T, 2) of a span's ends; of an encoder-decoder after it has `written` so much."""
        said = {} if written is None else {"decoder_input_ids": torch.tensor([written])}
        found = self.model(input_ids=torch.tensor([ids]), **said)
        both = ("start_logits", "end_logits")
        return found.logits[0] if "logits" in found else torch.stack([found[name][0] for name in both], -1)


def original(folder: Path, architecture: str) -> Original | None:
    """In fp32, in eval mode; None without transformers."""
    try:
        import transformers
    except ImportError:
        return None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = getattr(transformers, architecture).from_pretrained(folder, dtype=torch.float32)
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        except (ImportError, OSError, ValueError):
            tokenizer = None
    return Original(transformers.__version__, made.eval(), tokenizer)
