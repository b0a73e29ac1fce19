"""Llama (Touvron et al. 2023), Mistral (Jiang et al. 2023: a window), Qwen2 (Yang et al. 2024: biases)."""

from collections.abc import Mapping
from typing import Any

from sublayer.interop.family import Family, Head
from sublayer.interop.fields import TIED, Field, Window
from sublayer.interop.rope import Rope
from sublayer.interop.rule import Rule, Table

# fmt: off
LAYER = Table((
    Rule("input_layernorm.weight",          "sublayer_attn.norm.weight"),
    Rule("self_attn.q_proj.{p}",            "self_attn.q_proj.{p}"),
    Rule("self_attn.k_proj.{p}",            "self_attn.k_proj.{p}"),
    Rule("self_attn.v_proj.{p}",            "self_attn.v_proj.{p}"),
    Rule("self_attn.o_proj.{p}",            "self_attn.out_proj.{p}"),
    Rule("post_attention_layernorm.weight", "sublayer_ffn.norm.weight"),
    Rule("mlp.gate_proj.{p}",               "ffn.gate.{p}"),
    Rule("mlp.up_proj.{p}",                 "ffn.up.{p}"),
    Rule("mlp.down_proj.{p}",               "ffn.down.{p}"),
))

BODY = Table((
    Rule("embed_tokens.weight",             "embed.tokens.weight"),
    *LAYER.under("layers.{i}.",             "decoder.layers.{i}."),
    Rule("norm.weight",                     "decoder.norm.weight"),
))

FIELDS = (
    Field("vocab_size",                 "target_vocab",      32000),
    Field("hidden_size",                "d_model",           4096),
    Field("intermediate_size",          "d_ff",              11008),
    Field("num_hidden_layers",          "decoder_layers",    32),
    Field("num_attention_heads",        "num_heads",         32),
    Field("num_key_value_heads",        "num_kv_heads"),
    Field("head_dim",                   "attention.width"),
    Field("attention_dropout",          "attention_dropout", 0.0),
    Field("rms_norm_eps",               "norm.eps",          1e-6),
    Field("rope_parameters",            "position",          None, Rope(), older="rope_scaling"),
    Field("rope_parameters.rope_theta", "position.theta",    10000.0, older="rope_theta"),
    Field("max_position_embeddings",    "max_len",           2048),
    Field("tie_word_embeddings",        "tie",               False, TIED),
)
LLAMA_BIASES = (
    Field("mlp_bias",                   "bias",               False),
    Field("attention_bias",             "attention.bias",     False),
    Field("attention_bias",             "attention.out_bias", False),
)
# fmt: on


def _family(name: str, fields: tuple[Field, ...], fixed: Mapping[str, Any], only: Mapping[str, Any]) -> Family:
    return Family(
        model_type=name.lower(),
        prefix="model.",
        fields=(*FIELDS, *fields),
        fixed={
            "architecture": "decoder",
            "norm.kind": "rmsnorm",
            "position.kind": "rotary",
            "ffn.kind": "swiglu",
            "dropout": 0.0,
            "embedding.scale": 1.0,
            "output_bias": False,
            **fixed,
        },
        only={"hidden_act": "silu", **only},
        rules=BODY.under("model.", ""),
        heads={f"{name}ForCausalLM": Head(rules=(Rule("lm_head.weight", "project.weight"),))},
        ignore=("model.layers.{i}.self_attn.rotary_emb.inv_freq", "model.rotary_emb.inv_freq"),
    )


LLAMA = _family("Llama", LLAMA_BIASES, {}, {"pretraining_tp": 1})
MISTRAL = _family(
    "Mistral",
    (
        Field("intermediate_size", "d_ff", 14336),
        Field("num_key_value_heads", "num_kv_heads", 8),
        Field("max_position_embeddings", "max_len", 131072),
        Field("sliding_window", "kernel", 4096, Window()),
    ),
    {"bias": False},
    {},
)
QWEN2 = _family(
    "Qwen2",
    (
        Field("vocab_size", "target_vocab", 151936),
        Field("intermediate_size", "d_ff", 22016),
        Field("num_key_value_heads", "num_kv_heads", 32),
        Field("max_position_embeddings", "max_len", 32768),
    ),
    {"bias": False, "attention.bias": True},
    {"use_sliding_window": False},
)
