"""BERT. Devlin et al. 2019."""

from sublayer.interop.family import Family, Head
from sublayer.interop.fields import ACTIVATION, TIED, Field, Labels
from sublayer.interop.rule import Rule, Table

# fmt: off
LAYER = Table((
    Rule("attention.self.query.{p}",       "self_attn.q_proj.{p}"),
    Rule("attention.self.key.{p}",         "self_attn.k_proj.{p}"),
    Rule("attention.self.value.{p}",       "self_attn.v_proj.{p}"),
    Rule("attention.output.dense.{p}",     "self_attn.out_proj.{p}"),
    Rule("attention.output.LayerNorm.{p}", "sublayer_attn.norm.{p}"),
    Rule("intermediate.dense.{p}",         "ffn.up.{p}"),
    Rule("output.dense.{p}",               "ffn.down.{p}"),
    Rule("output.LayerNorm.{p}",           "sublayer_ffn.norm.{p}"),
))

BODY = Table((
    Rule("embeddings.word_embeddings.weight",       "embed.tokens.weight"),
    Rule("embeddings.token_type_embeddings.weight", "embed.types.weight"),
    Rule("embeddings.position_embeddings.weight",   "embed.positions.table.weight"),
    Rule("embeddings.LayerNorm.{p}",                "embed.norm.{p}"),
    *LAYER.under("encoder.layer.{i}.",              "encoder.layers.{i}."),
))

MASKED_LM = (
    Rule("cls.predictions.transform.dense.{p}",     "head.dense.{p}"),
    Rule("cls.predictions.transform.LayerNorm.{p}", "head.norm.{p}"),
    Rule("cls.predictions.decoder.weight",          "head.project.weight"),
    Rule("cls.predictions.bias",                    "head.project.bias"),
)
CLASSIFIER = Rule("classifier.{p}",                 "head.classes.{p}")

SIZES = (
    Field("vocab_size",                   "source_vocab",      30522),
    Field("hidden_size",                  "d_model",           768),
    Field("num_hidden_layers",            "encoder_layers",    12),
    Field("num_attention_heads",          "num_heads",         12),
    Field("intermediate_size",            "d_ff",              3072),
    Field("hidden_act",                   "activation",        "gelu", ACTIVATION),
    Field("hidden_dropout_prob",          "dropout",           0.1),
    Field("attention_probs_dropout_prob", "attention_dropout", 0.1),
    Field("layer_norm_eps",               "norm.eps",          1e-12),
    Field("tie_word_embeddings",          "tie",               True, TIED),
)
# fmt: on

POST_NORM_ENCODER = {
    "architecture": "encoder",
    "norm.kind": "layernorm",
    "norm_first": False,
    "position.kind": "learned",
    "ffn.kind": "feedforward",
    "ffn.dropout": 0.0,  # between the two maps it has none
    "embedding.scale": 1.0,
    "embedding.norm": True,
}
LABEL_COUNT = Field("id2label", "head.classes", {"0": "", "1": ""}, Labels())
LABELS = (LABEL_COUNT, Field("classifier_dropout", "head.dropout"))
SPAN = Head({"head.kind": "span"}, rules=(Rule("qa_outputs.{p}", "head.classes.{p}"),))
FILL = Head({"head.kind": "masked-lm"}, rules=MASKED_LM)
OLDER = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}

BERT = Family(
    model_type="bert",
    prefix="bert.",
    base="BertModel",
    fields=(
        *SIZES,
        Field("max_position_embeddings", "max_len", 512),
        Field("type_vocab_size", "embedding.token_types", 2),
    ),
    fixed=POST_NORM_ENCODER,
    only={"is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"},
    rules=BODY.under("bert.", ""),
    heads={
        "BertModel": Head(
            {"head.kind": "pooler"},
            rules=(Rule("bert.pooler.dense.{p}", "head.dense.{p}"),),
            needs="bert.pooler.dense.weight",
            otherwise=Head(),
        ),
        "BertForMaskedLM": FILL,
        "BertForPreTraining": FILL,
        "BertForSequenceClassification": Head(
            {"head.kind": "classes", "head.pool": "first", "head.activation": "tanh"},
            LABELS,
            (Rule("bert.pooler.dense.{p}", "head.pool.dense.{p}"), CLASSIFIER),
        ),
        "BertForTokenClassification": Head({"head.kind": "token-classes"}, LABELS, (CLASSIFIER,)),
        "BertForQuestionAnswering": SPAN,
    },
    ignore=("bert.embeddings.position_ids", "cls.seq_relationship.{p}"),
    aliases=OLDER | {"cls.predictions.decoder.bias": "cls.predictions.bias"},
)
