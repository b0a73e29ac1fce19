"""The parts, to be read in this order: mask, norm, dropout, connection, feedforward, kernel, local, attention,
position, bias, cache, embedding, layer, stack, init, packed."""

from sublayer.nn.attention import MultiHeadAttention as MultiHeadAttention
from sublayer.nn.bias import Alibi as Alibi
from sublayer.nn.bias import RelativeBias as RelativeBias
from sublayer.nn.cache import DecoderCache as DecoderCache
from sublayer.nn.cache import Fixed as Fixed
from sublayer.nn.cache import Growing as Growing
from sublayer.nn.cache import KeyValue as KeyValue
from sublayer.nn.cache import LayerCache as LayerCache
from sublayer.nn.cache import Preallocated as Preallocated
from sublayer.nn.connection import SublayerConnection as SublayerConnection
from sublayer.nn.dropout import Dropout as Dropout
from sublayer.nn.embedding import Embeddings as Embeddings
from sublayer.nn.embedding import FeatureEmbeddings as FeatureEmbeddings
from sublayer.nn.feedforward import GEGLU as GEGLU
from sublayer.nn.feedforward import GLU as GLU
from sublayer.nn.feedforward import FeedForward as FeedForward
from sublayer.nn.feedforward import GatedFeedForward as GatedFeedForward
from sublayer.nn.feedforward import SwiGLU as SwiGLU
from sublayer.nn.kernel import Eager as Eager
from sublayer.nn.kernel import Fused as Fused
from sublayer.nn.kernel import attention as attention
from sublayer.nn.kernel import masked_softmax as masked_softmax
from sublayer.nn.layer import DecoderLayer as DecoderLayer
from sublayer.nn.layer import EncoderLayer as EncoderLayer
from sublayer.nn.local import Local as Local
from sublayer.nn.mask import Mask as Mask
from sublayer.nn.norm import LayerNorm as LayerNorm
from sublayer.nn.norm import RMSNorm as RMSNorm
from sublayer.nn.packed import PackedAttention as PackedAttention
from sublayer.nn.position import Learned as Learned
from sublayer.nn.position import Rotary as Rotary
from sublayer.nn.position import Sinusoidal as Sinusoidal
from sublayer.nn.position import stretched as stretched
from sublayer.nn.stack import Decoder as Decoder
from sublayer.nn.stack import Encoder as Encoder
