"""T5 (Raffel et al. 2020), T5 v1.1 and FLAN with gates, mT5 (Xue et al. 2021), UMT5 (Chung et al. 2023)."""

from sublayer.interop.family import Family, Head
from sublayer.interop.fields import Field, Named
from sublayer.interop.rule import Rule, Table

# fmt: off
ATTENTION = Table((
    Rule("q.weight", "q_proj.weight"),
    Rule("k.weight", "k_proj.weight"),
    Rule("v.weight", "v_proj.weight"),
    Rule("o.weight", "out_proj.weight"),
))
PLAIN = Table((
    Rule("wi.weight",   "up.weight"),
    Rule("wo.weight",   "down.weight"),
))
GATED = Table((
    Rule("wi_0.weight", "gate.weight"),
    Rule("wi_1.weight", "up.weight"),
    Rule("wo.weight",   "down.weight"),
))
BIAS = "SelfAttention.relative_attention_bias.weight"


def _body(ffn: Table, attention: str) -> tuple[Rule, ...]:
    """`attention` is where a layer's self-attention has its maps."""
    encoder, decoder = Table((
        *ATTENTION.under("layer.0.SelfAttention.",   attention),
        Rule("layer.0.layer_norm.weight",            "sublayer_attn.norm.weight"),
        *ffn.under("layer.1.DenseReluDense.",        "ffn."),
        Rule("layer.1.layer_norm.weight",            "sublayer_ffn.norm.weight"),
    )), Table((
        *ATTENTION.under("layer.0.SelfAttention.",   attention),
        Rule("layer.0.layer_norm.weight",            "sublayer_attn.norm.weight"),
        *ATTENTION.under("layer.1.EncDecAttention.", "cross_attn."),
        Rule("layer.1.layer_norm.weight",            "sublayer_cross.norm.weight"),
        *ffn.under("layer.2.DenseReluDense.",        "ffn."),
        Rule("layer.2.layer_norm.weight",            "sublayer_ffn.norm.weight"),
    ))
    return (
        Rule("shared.weight",                        "source_embed.tokens.weight"),
        *encoder.under("encoder.block.{i}.",         "encoder.layers.{i}."),
        Rule("encoder.final_layer_norm.weight",      "encoder.norm.weight"),
        Rule("decoder.embed_tokens.weight",          "target_embed.tokens.weight"),
        *decoder.under("decoder.block.{i}.",         "decoder.layers.{i}."),
        Rule("decoder.final_layer_norm.weight",      "decoder.norm.weight"),
    )


ONE_BIAS = tuple(
    Rule(f"{side}.block.0.layer.0.{BIAS}",   f"{side}.bias.table.weight") for side in ("encoder", "decoder")
)
OWN_BIASES = tuple(
    Rule(f"{side}.block.{{i}}.layer.0.{BIAS}", f"{side}.layers.{{i}}.self_attn.bias.table.weight")
    for side in ("encoder", "decoder")
)
PROJECT = (Rule("lm_head.weight",            "project.weight"),)

FIELDS = (
    Field("vocab_size",                      "source_vocab",          32128),
    Field("vocab_size",                      "target_vocab",          32128),
    Field("d_model",                         "d_model",               512),
    Field("d_kv",                            "attention.width",       64),
    Field("d_ff",                            "d_ff",                  2048),
    Field("num_layers",                      "encoder_layers",        6),
    Field("num_decoder_layers",              "decoder_layers",        6, older="num_layers"),
    Field("num_heads",                       "num_heads",             8),
    Field("dropout_rate",                    "dropout",               0.1),
    Field("dropout_rate",                    "attention_dropout",     0.1),
    Field("layer_norm_epsilon",              "norm.eps",              1e-6),
    Field("relative_attention_num_buckets",  "position.buckets",      32),
    Field("relative_attention_max_distance", "position.max_distance", 128),
)
LARGER = (
    Field("vocab_size",                      "source_vocab",          250112),
    Field("vocab_size",                      "target_vocab",          250112),
    Field("d_ff",                            "d_ff",                  1024),
    Field("num_layers",                      "encoder_layers",        8),
    Field("num_decoder_layers",              "decoder_layers",        8, older="num_layers"),
    Field("num_heads",                       "num_heads",             6),
)
SCALED = (
    Field("scale_decoder_outputs",           "output_scaled",         True, older="tie_word_embeddings"),
)
# fmt: on

GATES = Named({"gated-gelu": {"kind": "geglu", "activation": "gelu_tanh"}, "gated-silu": {"kind": "swiglu"}})
KINDS = Named({"relu": {"kind": "feedforward", "activation": "relu"}})


def _family(model_type: str, name: str, fields: tuple[Field, ...], *, gated: bool, own_biases: bool = False) -> Family:
    tied = Head({"tie": "all"}, rules=PROJECT)
    apart = Head({"tie": "inputs"}, rules=PROJECT, needs="lm_head.weight", unlike="shared.weight", otherwise=tied)
    proj = Field("feed_forward_proj", "ffn", "gated-gelu" if model_type != "t5" else "relu", GATES if gated else KINDS)
    return Family(
        model_type=model_type,
        prefix="",
        fields=(*FIELDS, *fields, proj),
        fixed={
            "architecture": "encoder-decoder",
            "norm.kind": "rmsnorm",
            "position.kind": "layer-relative" if own_biases else "relative",
            "bias": False,
            "attention.scale": 1.0,
            "embedding.scale": 1.0,
            "output_bias": False,
        },
        only={"is_gated_act": gated},
        rules=(
            *_body(GATED if gated else PLAIN, "self_attn.attn." if own_biases else "self_attn."),
            *(OWN_BIASES if own_biases else ONE_BIAS),
        ),
        heads={f"{name}ForConditionalGeneration": apart},
        ignore=(f"decoder.block.0.{BIAS.replace('SelfAttention', 'layer.1.EncDecAttention')}",),  # read by nothing
        aliases={"encoder.embed_tokens.weight": "shared.weight"},
    )


T5 = _family("t5", "T5", SCALED, gated=False)
T5_GATED = _family("t5", "T5", SCALED, gated=True)
MT5 = _family("mt5", "MT5", LARGER, gated=True)
UMT5 = _family("umt5", "UMT5", (*LARGER, *SCALED), gated=True, own_biases=True)
