"""The half of `build` that makes attention: it alone reads what a config says of it."""

from typing import Any

from torch import nn

from sublayer.models.config import ModelConfig, Part
from sublayer.models.parts import KERNELS, NORMS, OF_SELF_ATTENTION, Factory, factory
from sublayer.models.sections import Distances
from sublayer.nn import (
    Alibi,
    BiasedAttention,
    DisentangledAttention,
    LinearRotary,
    Llama3Rotary,
    MultiHeadAttention,
    RelativeBias,
    RelativePositions,
    Rotary,
)

TURNED: dict[str, Factory] = {"rotary": Rotary, "rotary-linear": LinearRotary, "rotary-llama3": Llama3Rotary}
BIASED: dict[str, Factory] = {"relative": RelativeBias, "layer-relative": RelativeBias, "alibi": Alibi}
DISENTANGLED = "disentangled"


def self_attention(config: ModelConfig, *, bidirectional: bool) -> nn.Module:
    """With positions of its own where each layer has them."""
    if config.position.kind == DISENTANGLED:
        about = Distances(**config.position.options)
        key_bias = config.attention.key_bias
        return DisentangledAttention(**_settings(config), terms=about.terms, shared=about.shared, key_bias=key_bias)
    made = attention(config)
    if config.position.kind != "layer-relative":
        return made
    return BiasedAttention(made, _bias(config, bidirectional=bidirectional))


def attention(config: ModelConfig, *, cross: bool = False) -> MultiHeadAttention:
    return MultiHeadAttention(**_settings(config, cross=cross))


def _settings(config: ModelConfig, *, cross: bool = False) -> dict[str, Any]:
    about = config.attention
    width = config.d_model // config.num_heads if about.width is None else about.width
    turned = config.position.kind in TURNED and not cross
    default = config.kernel.kind in OF_SELF_ATTENTION and cross
    return dict(
        d_model=config.d_model,
        num_heads=config.num_heads,
        d_k=about.width,
        d_v=about.width,
        num_kv_heads=config.num_kv_heads,
        bias=config.bias if about.bias is None else about.bias,
        out_bias=config.bias if about.out_bias is None else about.out_bias,
        dropout=config.attention_dropout,
        scale=about.scale,
        rotate=factory("model.position", config.position, TURNED)(width) if turned else None,
        kernel=None if default else factory("model.kernel", config.kernel, KERNELS)(),
    )


def by_layer(config: ModelConfig) -> list[ModelConfig]:
    """What each encoder layer's attention is built from."""
    about = config.local_layers
    if about is None:
        return [config] * config.encoder_layers
    position = Part.model_validate(config.position.model_dump() | {"theta": about.theta})
    near = Part.model_validate({"kind": "local", "window": about.window})
    local = config.model_copy(update={"position": position, "kernel": near})
    return [local if i % about.every else config for i in range(config.encoder_layers)]


def stack_bias(config: ModelConfig, *, bidirectional: bool) -> nn.Module | None:
    """The bias that all layers of a stack share, if that is where positions are."""
    shared = config.position.kind in BIASED and config.position.kind != "layer-relative"
    return _bias(config, bidirectional=bidirectional) if shared else None


def _bias(config: ModelConfig, *, bidirectional: bool) -> nn.Module:
    make = factory("model.position", config.position, BIASED)
    one_sided: dict[str, Any] = {} if config.position.kind == "alibi" else {"bidirectional": bidirectional}
    made: nn.Module = make(config.num_heads, **one_sided)
    return made


def distances(config: ModelConfig) -> RelativePositions | None:
    """The table that the layers of a disentangled encoder share, for distances up to max_len by default."""
    if config.position.kind != DISENTANGLED:
        return None
    about = Distances(**config.position.options)
    norm = factory("model.norm", config.norm, NORMS)(config.d_model) if about.norm else None
    far = config.max_len if about.max_distance is None else about.max_distance
    return RelativePositions(config.d_model, far, buckets=about.buckets, norm=norm, dropout=config.dropout)
