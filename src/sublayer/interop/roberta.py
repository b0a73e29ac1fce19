"""RoBERTa (Liu et al. 2019) and its multilingual and French kin: XLM-R (Conneau et al. 2020), CamemBERT."""

from collections.abc import Mapping

from sublayer.interop.bert import BODY, CLASSIFIER, LABELS, OLDER, POST_NORM_ENCODER, SIZES, SPAN
from sublayer.interop.family import Family, Head
from sublayer.interop.fields import Field, Less
from sublayer.interop.rule import Rule

# fmt: off
POOLER = (Rule("roberta.pooler.dense.{p}",  "head.dense.{p}"),)
MASKED_LM = (
    Rule("lm_head.dense.{p}",               "head.dense.{p}"),
    Rule("lm_head.layer_norm.{p}",          "head.norm.{p}"),
    Rule("lm_head.decoder.weight",          "head.project.weight"),
    Rule("lm_head.bias",                    "head.project.bias"),
)
CLASSES = (
    Rule("classifier.dense.{p}",            "head.pool.dense.{p}"),
    Rule("classifier.out_proj.{p}",         "head.classes.{p}"),
)
# fmt: on


def _heads(name: str) -> Mapping[str, Head]:
    return {
        f"{name}Model": Head(
            {"head.kind": "pooler"}, rules=POOLER, needs="roberta.pooler.dense.weight", otherwise=Head()
        ),
        f"{name}ForMaskedLM": Head({"head.kind": "masked-lm", "head.activation": "gelu"}, rules=MASKED_LM),
        f"{name}ForSequenceClassification": Head(
            {"head.kind": "classes", "head.pool": "first", "head.activation": "tanh"}, LABELS, CLASSES
        ),
        f"{name}ForTokenClassification": Head({"head.kind": "token-classes"}, LABELS, (CLASSIFIER,)),
        f"{name}ForQuestionAnswering": SPAN,
    }


def _family(model_type: str, name: str, vocab: int) -> Family:
    return Family(
        model_type=model_type,
        prefix="roberta.",
        base=f"{name}Model",
        fields=(
            *SIZES,
            Field("vocab_size", "source_vocab", vocab),
            Field("max_position_embeddings", "max_len", 512, Less(2)),
            Field("type_vocab_size", "embedding.token_types", 2),
        ),
        # A text's first position is the one after that of the padding, whose id is 1.
        fixed=POST_NORM_ENCODER | {"position.offset": 2},
        only={"is_decoder": False, "add_cross_attention": False, "pad_token_id": 1},
        rules=BODY.under("roberta.", ""),
        heads=_heads(name),
        ignore=("roberta.embeddings.position_ids",),
        aliases=OLDER | {"lm_head.decoder.bias": "lm_head.bias"},
    )


ROBERTA = _family("roberta", "Roberta", 50265)
XLM_ROBERTA = _family("xlm-roberta", "XLMRoberta", 30522)
CAMEMBERT = _family("camembert", "Camembert", 30522)
