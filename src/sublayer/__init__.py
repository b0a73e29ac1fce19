"""Sublayer: Transformers that read like their formulas, are put together from parts, and learn from one's own text.

The dozen parts are here; the rest comes from its unit: `from sublayer.nn import Rotary`. Names are imported when
they are used, so that the command line starts without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sublayer.models.decoder import CausalLM as CausalLM
    from sublayer.models.encoder import EncoderModel as EncoderModel
    from sublayer.models.seq2seq import EncoderDecoder as EncoderDecoder
    from sublayer.models.seq2seq import Transformer as Transformer
    from sublayer.nn import Decoder as Decoder
    from sublayer.nn import DecoderLayer as DecoderLayer
    from sublayer.nn import Embeddings as Embeddings
    from sublayer.nn import Encoder as Encoder
    from sublayer.nn import EncoderLayer as EncoderLayer
    from sublayer.nn import FeedForward as FeedForward
    from sublayer.nn import LayerNorm as LayerNorm
    from sublayer.nn import Mask as Mask
    from sublayer.nn import MultiHeadAttention as MultiHeadAttention
    from sublayer.nn import RMSNorm as RMSNorm
    from sublayer.nn import Sinusoidal as Sinusoidal
    from sublayer.nn import SublayerConnection as SublayerConnection
    from sublayer.nn import attention as attention
    from sublayer.tasks.bundle import load as load
    from sublayer.tasks.published import from_pretrained as from_pretrained

__version__ = "0.1.0"

_PARTS = (
    "Decoder DecoderLayer Embeddings Encoder EncoderLayer FeedForward LayerNorm Mask MultiHeadAttention RMSNorm "
    "Sinusoidal SublayerConnection attention"
)
_HOME = {
    **dict.fromkeys(_PARTS.split(), "sublayer.nn"),
    **dict.fromkeys("CausalLM EncoderDecoder EncoderModel Transformer".split(), "sublayer.models"),
    "from_pretrained": "sublayer.tasks.published",
    "load": "sublayer.tasks.bundle",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'sublayer' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
