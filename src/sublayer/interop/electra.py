"""ELECTRA: BERT trained to tell replaced tokens from real ones. Clark et al. 2020."""

from sublayer.interop.bert import BODY, CLASSIFIER, LABELS, OLDER, POST_NORM_ENCODER, SIZES, SPAN
from sublayer.interop.family import Family, Head
from sublayer.interop.fields import ACTIVATION, Field
from sublayer.interop.roberta import CLASSES
from sublayer.interop.rule import Rule

# fmt: off
WIDEN = Rule("electra.embeddings_project.{p}",              "embed.widen.{p}")
GENERATOR = (
    Rule("generator_predictions.dense.{p}",                 "head.dense.{p}"),
    Rule("generator_predictions.LayerNorm.{p}",             "head.norm.{p}"),
    Rule("generator_lm_head.{p}",                           "head.project.{p}"),
)
DISCRIMINATOR = (
    Rule("discriminator_predictions.dense.{p}",             "head.dense.{p}"),
    Rule("discriminator_predictions.dense_prediction.{p}",  "head.project.{p}"),
)
# fmt: on

ELECTRA = Family(
    model_type="electra",
    prefix="electra.",
    base="ElectraModel",
    fields=(
        *SIZES,
        Field("hidden_size", "d_model", 256),
        Field("num_attention_heads", "num_heads", 4),
        Field("intermediate_size", "d_ff", 1024),
        Field("embedding_size", "embedding.width", 128),
        Field("max_position_embeddings", "max_len", 512),
        Field("type_vocab_size", "embedding.token_types", 2),
    ),
    fixed=POST_NORM_ENCODER,
    only={"is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"},
    rules=(*BODY.under("electra.", ""), WIDEN),
    heads={
        "ElectraModel": Head(),
        "ElectraForPreTraining": Head(
            {"head.kind": "replaced"}, (Field("hidden_act", "head.activation", "gelu", ACTIVATION),), DISCRIMINATOR
        ),
        "ElectraForMaskedLM": Head({"head.kind": "masked-lm", "head.activation": "gelu"}, rules=GENERATOR),
        "ElectraForSequenceClassification": Head(
            {"head.kind": "classes", "head.pool": "first", "head.activation": "gelu"}, LABELS, CLASSES
        ),
        "ElectraForTokenClassification": Head({"head.kind": "token-classes"}, LABELS, (CLASSIFIER,)),
        "ElectraForQuestionAnswering": SPAN,
    },
    ignore=("electra.embeddings.position_ids",),
    aliases=OLDER,
)
