"""A model in CTranslate2's words: which of its names holds which of our parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sublayer.models.config import ModelConfig
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import Decoder, MultiHeadAttention, RelativeBias, Rotary

POSITIONS = 2048
"""How many positions an added position is written out for: CTranslate2 has no longer texts."""

ACTIVATIONS = {
    "relu": "RELU",
    "gelu": "GELU",
    "gelu_tanh": "GELUTanh",
    "silu": "SWISH",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
}
GATES = {"glu": "sigmoid", "geglu": "gelu", "swiglu": "silu"}


def spec(specs: Any, model: EncoderDecoder, config: ModelConfig) -> Any:
    """Model and config in the words of `ctranslate2.specs`."""
    shared: dict[str, Any] = {
        "pre_norm": config.norm_first,
        "activation": getattr(specs.Activation, ACTIVATIONS[_activation(config)]),
        "ffn_glu": config.ffn.kind in GATES,
        "rms_norm": config.norm.kind == "rmsnorm",
        "num_heads_kv": config.num_kv_heads,
        "relative_attention_bias": config.position.kind == "relative",
    }
    first: Any = model.decoder.layers[0]
    rotate = first.self_attn.rotate
    if isinstance(rotate, Rotary):
        shared |= {"rotary_dim": 0, "rotary_interleave": rotate.layout == "interleaved", "rotary_base": rotate.theta}
    encoder = specs.TransformerEncoderSpec(config.encoder_layers, config.num_heads, **shared)
    decoder = specs.TransformerDecoderSpec(config.decoder_layers, config.num_heads, **shared)
    _stack(encoder, model.encoder)
    _stack(decoder, model.decoder)
    _embed(encoder, encoder.embeddings[0], model.source_embed)
    _embed(decoder, decoder.embeddings, model.target_embed)
    _linear(decoder.projection, model.project)
    return specs.TransformerSpec(encoder, decoder)


def _activation(config: ModelConfig) -> str:
    chosen: str = config.ffn.options.get("activation", GATES.get(config.ffn.kind, config.activation))
    return chosen


def _stack(spec: Any, stack: Any) -> None:
    for theirs, ours in zip(spec.layer, stack.layers, strict=True):
        _attention(theirs.self_attention, ours.self_attn, stack.bias)
        _norm(theirs.self_attention.layer_norm, ours.sublayer_attn.norm)
        if isinstance(stack, Decoder):
            _attention(theirs.attention, ours.cross_attn, None)
            _norm(theirs.attention.layer_norm, ours.sublayer_cross.norm)
        _norm(theirs.ffn.layer_norm, ours.sublayer_ffn.norm)
        _linear(theirs.ffn.linear_0, getattr(ours.ffn, "gate", ours.ffn.up))
        if hasattr(ours.ffn, "gate"):
            _linear(theirs.ffn.linear_0_noact, ours.ffn.up)
        _linear(theirs.ffn.linear_1, ours.ffn.down)
    if stack.norm is not None:
        _norm(spec.layer_norm, stack.norm)


def _attention(spec: Any, attn: MultiHeadAttention, bias: nn.Module | None) -> None:
    """Self-attention has one map for queries, keys and values; cross-attention one for queries and one for the rest."""
    q, kv = [attn.q_proj], [attn.k_proj, attn.v_proj]
    for theirs, ours in zip(spec.linear, [q + kv] if len(spec.linear) == 2 else [q, kv], strict=False):
        _linear(theirs, *ours)
    _linear(spec.linear[-1], attn.out_proj)
    if isinstance(bias, RelativeBias):
        spec.relative_attention_bias = _array(bias.table.weight)
        spec.relative_attention_max_distance = np.int32(bias.max_distance)


def _linear(spec: Any, *maps: Any) -> None:
    spec.weight = _array(torch.cat([m.weight for m in maps]))
    if maps[0].bias is not None:
        spec.bias = _array(torch.cat([m.bias for m in maps]))


def _norm(spec: Any, norm: Any) -> None:
    spec.gamma = _array(norm.weight)
    if isinstance(norm, nn.LayerNorm):
        spec.beta = _array(norm.bias)


def _embed(spec: Any, embeddings: Any, embed: Any) -> None:
    embeddings.weight = _array(embed.tokens.weight)
    if embed.positions is not None:
        places = min(getattr(embed.positions, "max_len", POSITIONS), POSITIONS)
        spec.position_encodings.encodings = _array(embed.positions(torch.arange(places), places))
    elif hasattr(spec, "position_encodings"):  # where nothing is said it would add sinusoids
        spec.position_encodings.encodings = np.zeros((POSITIONS, embed.tokens.embedding_dim), np.float32)


def _array(tensor: Tensor) -> Any:
    return tensor.detach().float().contiguous().numpy()
