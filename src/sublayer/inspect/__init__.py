"""Looking inside a model: attention maps and their pictures, shapes, parameters, operations."""

from sublayer.inspect.attention import AttentionMaps as AttentionMaps
from sublayer.inspect.attention import attention_maps as attention_maps
from sublayer.inspect.draw import AttentionPicture as AttentionPicture
from sublayer.inspect.trace import Parameters as Parameters
from sublayer.inspect.trace import Row as Row
from sublayer.inspect.trace import flops as flops
from sublayer.inspect.trace import parameters as parameters
from sublayer.inspect.trace import shapes as shapes
