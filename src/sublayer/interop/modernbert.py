"""ModernBERT. Warner et al. 2024."""

from sublayer.interop.bert import CLASSIFIER, LABEL_COUNT
from sublayer.interop.family import Family, Head
from sublayer.interop.fields import ACTIVATION, TIED, Each, Field, Half, Named
from sublayer.interop.rule import Rule, Stacked, Table

QKV = tuple(f"self_attn.{part}_proj.{{p}}" for part in ("q", "k", "v"))

# fmt: off
LAYER = Table((
    Rule("attn_norm.{p}",      "sublayer_attn.norm.{p}"),
    Rule("attn.Wqkv.{p}",      QKV,                            Stacked(3)),
    Rule("attn.Wo.{p}",        "self_attn.out_proj.{p}"),
    Rule("mlp_norm.{p}",       "sublayer_ffn.norm.{p}"),
    Rule("mlp.Wi.{p}",         ("ffn.gate.{p}", "ffn.up.{p}"), Stacked(2)),
    Rule("mlp.Wo.{p}",         "ffn.down.{p}"),
))

BODY = Table((
    Rule("embeddings.tok_embeddings.weight", "embed.tokens.weight"),
    Rule("embeddings.norm.{p}",              "embed.norm.{p}"),
    *LAYER.under("layers.{i}.",              "encoder.layers.{i}."),
    Rule("final_norm.{p}",                   "encoder.norm.{p}"),
))

MASKED_LM = (
    Rule("head.dense.{p}",     "head.dense.{p}"),
    Rule("head.norm.{p}",      "head.norm.{p}"),
    Rule("decoder.{p}",        "head.project.{p}"),
)
CLASSES = (
    Rule("head.dense.{p}",     "head.transform.dense.{p}"),
    Rule("head.norm.{p}",      "head.transform.norm.{p}"),
    CLASSIFIER,
)

FIELDS = (
    Field("vocab_size",              "source_vocab",      50368),
    Field("hidden_size",             "d_model",           768),
    Field("intermediate_size",       "d_ff",              1152),
    Field("num_hidden_layers",       "encoder_layers",    22),
    Field("num_attention_heads",     "num_heads",         12),
    Field("hidden_activation",       "ffn.activation",    "gelu", ACTIVATION),
    Field("max_position_embeddings", "max_len",           8192),
    Field("norm_eps",                "norm.eps",          1e-5),
    Field("norm_bias",               "norm.bias",         False),
    Field("attention_bias",          "attention.bias",    False),
    Field("attention_bias",          "attention.out_bias", False),
    Field("mlp_bias",                "bias",              False),
    Field("attention_dropout",       "attention_dropout", 0.0),
    Field("embedding_dropout",       "dropout",           0.0),
    Field("mlp_dropout",             "ffn.dropout",       0.0),
    Field("local_attention",         "local_layers.window", 128, Half()),
    Field("layer_types",             "local_layers.every", 3, Each(), older="global_attn_every_n_layers", written=True),
    Field("rope_parameters.full_attention.rope_theta",    "position.theta",     160000.0, older="global_rope_theta"),
    Field("rope_parameters.sliding_attention.rope_theta", "local_layers.theta", 10000.0,  older="local_rope_theta"),
    Field("tie_word_embeddings",     "tie",               True, TIED),
)
HEAD_FIELDS = (
    Field("classifier_activation",   "head.activation",   "gelu", ACTIVATION),
    Field("classifier_bias",         "head.bias",         False),
)
TRANSFORM = (
    Field("classifier_activation",   "head.transform.activation", "gelu", ACTIVATION),
    Field("classifier_bias",         "head.transform.bias",       False),
    Field("classifier_dropout",      "head.dropout",      0.0),
)
POOL = Field("classifier_pooling",   "head.pool",         "cls", Named({"cls": "first", "mean": "mean"}))
# fmt: on

MODERNBERT = Family(
    model_type="modernbert",
    prefix="model.",
    base="ModernBertModel",
    fields=FIELDS,
    fixed={
        "architecture": "encoder",
        "norm.kind": "layernorm",
        "position.kind": "rotary",
        "ffn.kind": "geglu",
        "embedding.scale": 1.0,
        "embedding.norm": True,
        "first_norm": False,
    },
    only={
        "decoder_bias": True,
        "rope_parameters.full_attention.rope_type": "default",
        "rope_parameters.sliding_attention.rope_type": "default",
        "rope_scaling": None,
    },
    rules=BODY.under("model.", ""),
    heads={
        "ModernBertModel": Head(),
        "ModernBertForMaskedLM": Head({"head.kind": "masked-lm"}, HEAD_FIELDS, MASKED_LM),
        "ModernBertForSequenceClassification": Head({"head.kind": "classes"}, (LABEL_COUNT, POOL, *TRANSFORM), CLASSES),
        "ModernBertForTokenClassification": Head({"head.kind": "token-classes"}, (LABEL_COUNT, *TRANSFORM), CLASSES),
        "ModernBertForQuestionAnswering": Head({"head.kind": "span"}, TRANSFORM, CLASSES),
    },
)
