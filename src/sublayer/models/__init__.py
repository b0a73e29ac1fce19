"""Models put together from the parts, and the one record that describes them.

The names are imported when they are used: reading a config needs no torch.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "CausalLM": "decoder",
    "EncoderDecoder": "seq2seq",
    "EncoderModel": "encoder",
    "EncoderWithHead": "heads",
    "ModelConfig": "config",
    "Transformer": "seq2seq",
    "encode_texts": "encoding",
    "load_weights": "store",
    "save_weights": "store",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
