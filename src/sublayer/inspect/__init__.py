"""Looking inside a model: attention and its pictures, activations, gradients, probes, shapes, operations."""

from sublayer.inspect.activations import Activations as Activations
from sublayer.inspect.activations import activations as activations
from sublayer.inspect.activations import patch_effects as patch_effects
from sublayer.inspect.activations import places as places
from sublayer.inspect.activations import replaced as replaced
from sublayer.inspect.attention import AttentionMaps as AttentionMaps
from sublayer.inspect.attention import attention_maps as attention_maps
from sublayer.inspect.draw import AttentionPicture as AttentionPicture
from sublayer.inspect.flow import InputGradients as InputGradients
from sublayer.inspect.flow import input_gradients as input_gradients
from sublayer.inspect.flow import jacobian_flow as jacobian_flow
from sublayer.inspect.heads import Heads as Heads
from sublayer.inspect.heads import by_word as by_word
from sublayer.inspect.heads import head_statistics as head_statistics
from sublayer.inspect.heads import rollout as rollout
from sublayer.inspect.probe import Labelled as Labelled
from sublayer.inspect.probe import Probe as Probe
from sublayer.inspect.probe import Probed as Probed
from sublayer.inspect.probe import control_labels as control_labels
from sublayer.inspect.probe import probe as probe
from sublayer.inspect.trace import Parameters as Parameters
from sublayer.inspect.trace import Row as Row
from sublayer.inspect.trace import flops as flops
from sublayer.inspect.trace import parameters as parameters
from sublayer.inspect.trace import shapes as shapes
