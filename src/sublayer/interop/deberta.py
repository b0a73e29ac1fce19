"""DeBERTa (He et al. 2021), its second version, and DeBERTaV3 (He, Gao and Chen 2023), which has the second's form."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sublayer.interop.bert import CLASSIFIER, LABEL_COUNT, LAYER, MASKED_LM, OLDER, POST_NORM_ENCODER, SIZES, SPAN
from sublayer.interop.codec import Listed, Positive
from sublayer.interop.family import Family, Head
from sublayer.interop.fields import ACTIVATION, Field, Named
from sublayer.interop.perhead import PerHead
from sublayer.interop.rule import Rule, Table

CONTENT = ("self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight")

# fmt: off
OUTSIDE_ATTENTION = tuple(rule for rule in LAYER.rules if ".self." not in rule.theirs)
FIRST = Table((
    Rule("attention.self.in_proj.weight",           CONTENT,                  PerHead(3)),
    Rule("attention.self.q_bias",                   "self_attn.q_proj.bias"),
    Rule("attention.self.v_bias",                   "self_attn.v_proj.bias"),
    Rule("attention.self.pos_proj.weight",          "self_attn.k_relative.weight"),
    Rule("attention.self.pos_q_proj.{p}",           "self_attn.q_relative.{p}"),
    *OUTSIDE_ATTENTION,
))
SECOND = Table((
    Rule("attention.self.query_proj.{p}",           "self_attn.q_proj.{p}"),
    Rule("attention.self.key_proj.{p}",             "self_attn.k_proj.{p}"),
    Rule("attention.self.value_proj.{p}",           "self_attn.v_proj.{p}"),
    Rule("attention.self.pos_key_proj.{p}",         "self_attn.k_relative.{p}"),
    Rule("attention.self.pos_query_proj.{p}",       "self_attn.q_relative.{p}"),
    *OUTSIDE_ATTENTION,
))


def _body(layer: Table) -> tuple[Rule, ...]:
    return (
        Rule("embeddings.word_embeddings.weight",       "embed.tokens.weight"),
        Rule("embeddings.token_type_embeddings.weight", "embed.types.weight"),
        Rule("embeddings.embed_proj.weight",            "embed.widen.weight"),
        Rule("embeddings.LayerNorm.{p}",                "embed.norm.{p}"),
        Rule("encoder.rel_embeddings.weight",           "encoder.positions.table.weight"),
        Rule("encoder.LayerNorm.{p}",                   "encoder.positions.norm.{p}"),
        Rule("encoder.conv.conv.{p}",                   "encoder.layers.0.conv.{p}"),
        Rule("encoder.conv.LayerNorm.{p}",              "encoder.layers.0.norm.{p}"),
        *layer.under("encoder.layer.{i}.",              "encoder.layers.{i}."),
    )


ABSOLUTE = Rule("embeddings.position_embeddings.weight", "embed.positions.table.weight")
ORIGINAL_LM = (
    Rule("lm_predictions.lm_head.dense.{p}",     "head.dense.{p}"),
    Rule("lm_predictions.lm_head.LayerNorm.{p}", "head.norm.{p}"),
    Rule("lm_predictions.lm_head.bias",          "head.project.bias"),
)
CLASSES = (
    Rule("pooler.dense.{p}",                     "head.pool.dense.{p}"),
    CLASSIFIER,
)

FIELDS = (
    *SIZES,
    Field("vocab_size",              "source_vocab",           50265),
    Field("layer_norm_eps",          "norm.eps",               1e-7),
    Field("max_position_embeddings", "max_len",                512),
    Field("max_relative_positions",  "position.max_distance",  -1, Positive()),
    Field("pos_att_type",            "position.terms",         "", Listed(("c2p", "p2c"))),
    Field("position_biased_input",   "position.absolute",      True),
    Field("type_vocab_size",         "embedding.token_types",  0),
    Field("embedding_size",          "embedding.width"),
)
SECOND_FIELDS = (
    Field("vocab_size",              "source_vocab",           128100),
    Field("hidden_size",             "d_model",                1536),
    Field("num_hidden_layers",       "encoder_layers",         24),
    Field("num_attention_heads",     "num_heads",              24),
    Field("intermediate_size",       "d_ff",                   6144),
    Field("position_buckets",        "position.buckets",       -1, Positive()),
    Field("share_att_key",           "position.shared",        False),
    Field("norm_rel_ebd",            "position.norm",          "none", Named({"none": False, "layer_norm": True})),
    Field("conv_kernel_size",        "convolution.width",      0),
    Field("conv_groups",             "convolution.groups",     1),
    Field("conv_act",                "convolution.activation", "tanh", ACTIVATION),
)
POOLER      = Field("pooler_hidden_act",   "head.activation", "gelu", ACTIVATION)
CLS_DROPOUT = Field("cls_dropout",         "head.dropout",    0.1, older="hidden_dropout_prob")
TOKEN_DROPOUT = Field("hidden_dropout_prob", "head.dropout",  0.1)
# fmt: on

PLAIN_LM = Head({"head.kind": "masked-lm"}, rules=ORIGINAL_LM, says={"legacy": False})
FILL = Head(
    {"head.kind": "masked-lm"}, rules=MASKED_LM, needs="cls.predictions.transform.dense.weight", otherwise=PLAIN_LM
)


def _family(model_type: str, name: str, fields: tuple[Field, ...], layer: Table, fixed: Mapping[str, Any]) -> Family:
    return Family(
        model_type=model_type,
        prefix="deberta.",
        base=f"{name}Model",
        fields=(*FIELDS, *fields),
        fixed={
            **POST_NORM_ENCODER,
            "position.kind": "disentangled",
            "position.terms": [],  # for a folder that names none: it is refused
            "embedding.widened_first": True,
            **fixed,
        },
        only={"relative_attention": True, "position_biased_input": False, "talking_head": False, "pooler_dropout": 0},
        rules=Table(_body(layer)).under("deberta.", ""),
        heads={
            f"{name}Model": Head(),
            f"{name}ForMaskedLM": FILL,
            f"{name}ForSequenceClassification": Head(
                {"head.kind": "classes", "head.pool": "first"}, (LABEL_COUNT, CLS_DROPOUT, POOLER), CLASSES
            ),
            f"{name}ForTokenClassification": Head(
                {"head.kind": "token-classes"}, (LABEL_COUNT, TOKEN_DROPOUT), (CLASSIFIER,)
            ),
            f"{name}ForQuestionAnswering": SPAN,
        },
        ignore=(
            "deberta.embeddings.position_ids",
            "deberta.embeddings.position_embeddings.weight",  # not read without position_biased_input
            *(f"mask_predictions.{part}.{{p}}" for part in ("dense", "LayerNorm", "classifier")),  # v3's discriminator
        ),
        aliases=OLDER | {"cls.predictions.decoder.bias": "cls.predictions.bias"},
    )


def _absolute(family: Family) -> Family:
    """The same with learned positions in the embeddings too."""
    return replace(
        family,
        only={**family.only, "position_biased_input": True},
        rules=(*family.rules, *Table((ABSOLUTE,)).under("deberta.", "")),
        ignore=tuple(name for name in family.ignore if "position_embeddings" not in name),
    )


DEBERTA = _family("deberta", "Deberta", (), FIRST, {"attention.key_bias": False})
DEBERTA_V2 = _family("deberta-v2", "DebertaV2", SECOND_FIELDS, SECOND, {})
DEBERTA_ABSOLUTE, DEBERTA_V2_ABSOLUTE = _absolute(DEBERTA), _absolute(DEBERTA_V2)
