"""BART (Lewis et al. 2020), mBART (Liu et al. 2020), Marian (Junczys-Dowmunt et al. 2018), M2M100 and NLLB (Fan et al.
2021)."""

from collections.abc import Mapping
from typing import Any

from sublayer.interop.family import Family, Head
from sublayer.interop.fields import ACTIVATION, SCALED, Field
from sublayer.interop.rule import Row, Rule, Table

# fmt: off
ATTENTION = Table(tuple(Rule(f"{part}_proj.{{p}}", f"{part}_proj.{{p}}") for part in ("q", "k", "v", "out")))
LAYER = Table((
    *ATTENTION.under("self_attn.",             "self_attn."),
    Rule("self_attn_layer_norm.{p}",           "sublayer_attn.norm.{p}"),
    Rule("fc1.{p}",                            "ffn.up.{p}"),
    Rule("fc2.{p}",                            "ffn.down.{p}"),
    Rule("final_layer_norm.{p}",               "sublayer_ffn.norm.{p}"),
))
CROSS = Table((
    *ATTENTION.under("encoder_attn.",          "cross_attn."),
    Rule("encoder_attn_layer_norm.{p}",        "sublayer_cross.norm.{p}"),
))
BODY = (
    Rule("model.shared.weight",                "source_embed.tokens.weight"),
    *LAYER.under("model.encoder.layers.{i}.",  "encoder.layers.{i}."),
    Rule("model.decoder.embed_tokens.weight",  "target_embed.tokens.weight"),
    *LAYER.under("model.decoder.layers.{i}.",  "decoder.layers.{i}."),
    *CROSS.under("model.decoder.layers.{i}.",  "decoder.layers.{i}."),
)
LEARNED = (
    Rule("model.encoder.embed_positions.weight",   "source_embed.positions.table.weight"),
    Rule("model.decoder.embed_positions.weight",   "target_embed.positions.table.weight"),
)
EMBEDDING_NORMS = (
    Rule("model.encoder.layernorm_embedding.{p}",  "source_embed.norm.{p}"),
    Rule("model.decoder.layernorm_embedding.{p}",  "target_embed.norm.{p}"),
)
LAST_NORMS = (
    Rule("model.encoder.layer_norm.{p}",       "encoder.norm.{p}"),
    Rule("model.decoder.layer_norm.{p}",       "decoder.norm.{p}"),
)
PROJECT = (Rule("lm_head.weight",              "project.weight"),)
BIAS    = (Rule("final_logits_bias",           "project.bias", Row()),)


def _fields(vocab: int, layers: int, d_ff: int, heads: int, act: str, scaled: bool) -> tuple[Field, ...]:
    return (
        Field("vocab_size",              "source_vocab",      vocab),
        Field("vocab_size",              "target_vocab",      vocab),
        Field("d_model",                 "d_model",           1024),
        Field("encoder_layers",          "encoder_layers",    layers),
        Field("decoder_layers",          "decoder_layers",    layers),
        Field("encoder_attention_heads", "num_heads",         heads),
        Field("decoder_attention_heads", "num_heads",         heads),
        Field("encoder_ffn_dim",         "d_ff",              d_ff),
        Field("decoder_ffn_dim",         "d_ff",              d_ff),
        Field("activation_function",     "activation",        act, ACTIVATION),
        Field("dropout",                 "dropout",           0.1),
        Field("attention_dropout",       "attention_dropout", 0.0),
        Field("activation_dropout",      "ffn.dropout",       0.0),
        Field("max_position_embeddings", "max_len",           1024),
        Field("scale_embedding",         "embedding.scale",   scaled, SCALED),
    )
# fmt: on


def _family(
    model_type: str,
    architecture: str,
    fields: tuple[Field, ...],
    rules: tuple[Rule, ...],
    fixed: Mapping[str, Any],
    only: Mapping[str, Any] | None = None,
    top: tuple[Rule, ...] = (*PROJECT, *BIAS),
) -> Family:
    return Family(
        model_type=model_type,
        prefix="model.",
        fields=fields,
        fixed={
            "architecture": "encoder-decoder",
            "norm.kind": "layernorm",
            "ffn.kind": "feedforward",
            "tie": "all",
            "output_bias": len(top) > 1,
            **fixed,
        },
        only={"tie_word_embeddings": True, **(only or {})},
        rules=(*BODY, *rules),
        heads={architecture: Head(rules=top)},
        ignore=("model.encoder.embed_positions.weights", "model.decoder.embed_positions.weights"),  # sines and cosines
        aliases={"encoder.embed_tokens.weight": "shared.weight"},
    )


FROM_2 = {"position.kind": "learned", "position.offset": 2, "embedding.norm": True}

BART = _family(
    "bart",
    "BartForConditionalGeneration",
    _fields(50265, 12, 4096, 16, "gelu", False),
    (*LEARNED, *EMBEDDING_NORMS),
    FROM_2 | {"norm_first": False},
    {"normalize_before": False, "normalize_embedding": True, "add_final_layer_norm": False},
)
MBART = _family(
    "mbart",
    "MBartForConditionalGeneration",
    _fields(50265, 12, 4096, 16, "gelu", False),
    (*LEARNED, *EMBEDDING_NORMS, *LAST_NORMS),
    FROM_2,
)
MARIAN = _family(
    "marian",
    "MarianMTModel",
    (
        *_fields(58101, 12, 4096, 16, "gelu", False),
        Field("decoder_vocab_size", "target_vocab", None),
    ),
    (),
    {"norm_first": False, "position.kind": "sinusoidal", "position.layout": "halves"},
    {"share_encoder_decoder_embeddings": True},
)
M2M100 = _family(
    "m2m_100",
    "M2M100ForConditionalGeneration",
    _fields(128112, 12, 4096, 16, "relu", True),
    LAST_NORMS,
    {"position.kind": "fairseq"},
    {"pad_token_id": 1},
    PROJECT,
)
