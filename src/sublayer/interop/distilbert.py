"""DistilBERT: BERT with half of its layers, without segments. Sanh et al. 2019."""

from sublayer.interop.bert import CLASSIFIER, LABEL_COUNT, OLDER, POST_NORM_ENCODER
from sublayer.interop.family import Family, Head
from sublayer.interop.fields import ACTIVATION, TIED, Field
from sublayer.interop.rule import Rule, Table

# fmt: off
LAYER = Table((
    Rule("attention.q_lin.{p}",     "self_attn.q_proj.{p}"),
    Rule("attention.k_lin.{p}",     "self_attn.k_proj.{p}"),
    Rule("attention.v_lin.{p}",     "self_attn.v_proj.{p}"),
    Rule("attention.out_lin.{p}",   "self_attn.out_proj.{p}"),
    Rule("sa_layer_norm.{p}",       "sublayer_attn.norm.{p}"),
    Rule("ffn.lin1.{p}",            "ffn.up.{p}"),
    Rule("ffn.lin2.{p}",            "ffn.down.{p}"),
    Rule("output_layer_norm.{p}",   "sublayer_ffn.norm.{p}"),
))

BODY = Table((
    Rule("embeddings.word_embeddings.weight",     "embed.tokens.weight"),
    Rule("embeddings.position_embeddings.weight", "embed.positions.table.weight"),
    Rule("embeddings.LayerNorm.{p}",              "embed.norm.{p}"),
    *LAYER.under("transformer.layer.{i}.",        "encoder.layers.{i}."),
))

MASKED_LM = (
    Rule("vocab_transform.{p}",     "head.dense.{p}"),
    Rule("vocab_layer_norm.{p}",    "head.norm.{p}"),
    Rule("vocab_projector.{p}",     "head.project.{p}"),
)
CLASSES = (
    Rule("pre_classifier.{p}",      "head.pool.dense.{p}"),
    CLASSIFIER,
)

FIELDS = (
    Field("vocab_size",              "source_vocab",      30522),
    Field("dim",                     "d_model",           768),
    Field("n_layers",                "encoder_layers",    6),
    Field("n_heads",                 "num_heads",         12),
    Field("hidden_dim",              "d_ff",              3072),
    Field("activation",              "activation",        "gelu", ACTIVATION),
    Field("dropout",                 "dropout",           0.1),
    Field("attention_dropout",       "attention_dropout", 0.1),
    Field("max_position_embeddings", "max_len",           512),
    Field("tie_word_embeddings",     "tie",               True, TIED),
)
CLASSES_DROPOUT = Field("seq_classif_dropout", "head.dropout", 0.2)
TOKEN_DROPOUT   = Field("dropout",             "head.dropout", 0.1)
SPAN_DROPOUT    = Field("qa_dropout",          "head.dropout", 0.1)
# fmt: on

DISTILBERT = Family(
    model_type="distilbert",
    prefix="distilbert.",
    base="DistilBertModel",
    fields=FIELDS,
    fixed=POST_NORM_ENCODER | {"norm.eps": 1e-12},
    only={},
    rules=BODY.under("distilbert.", ""),
    heads={
        "DistilBertModel": Head(),
        "DistilBertForMaskedLM": Head({"head.kind": "masked-lm"}, rules=MASKED_LM),
        "DistilBertForSequenceClassification": Head(
            {"head.kind": "classes", "head.pool": "first", "head.activation": "relu"},
            (LABEL_COUNT, CLASSES_DROPOUT),
            CLASSES,
        ),
        "DistilBertForTokenClassification": Head(
            {"head.kind": "token-classes"}, (LABEL_COUNT, TOKEN_DROPOUT), (CLASSIFIER,)
        ),
        "DistilBertForQuestionAnswering": Head(
            {"head.kind": "span"}, (SPAN_DROPOUT,), (Rule("qa_outputs.{p}", "head.classes.{p}"),)
        ),
    },
    ignore=("distilbert.embeddings.position_ids",),
    aliases=OLDER,
)
