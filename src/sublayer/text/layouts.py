"""What the families put around the pieces of a SentencePiece file: their own ids in front and behind, and the special
tokens that a text stands between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FAIRSEQ = dict(bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="<unk>", pad="<pad>", mask="<mask>")
FRONT = ("<s>", "<pad>", "</s>", "<unk>")

MBART = (
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX "
    "ro_RO ru_RU si_LK tr_TR vi_VN zh_CN"
).split()
MBART50 = (
    "af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN "
    "te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI"
).split()

LANGUAGE = "$L"
"""In a template, the token of the text's language."""

About = Mapping[str, Any]
"""tokenizer_config.json and special_tokens_map.json."""


def named(about: About) -> list[str]:
    """Tokens of languages and others that a folder lists."""
    listed = about.get("additional_special_tokens") or about.get("extra_special_tokens") or []
    return [str(token["content"]) if isinstance(token, dict) else str(token) for token in listed]


def _extra(about: About) -> list[str]:
    return [f"<extra_id_{i}>" for i in reversed(range(about.get("extra_ids", 100)))]


def _languages(*codes: str) -> Callable[[About], list[str]]:
    return lambda about: [*codes, "<mask>"]


@dataclass(frozen=True)
class Layout:
    """One family's.

    file      what its SentencePiece file is called
    specials  how the special tokens are spelled, by role
    text      what a text `$A` stands between, and `pair` two, `$A` and `$B`
    front     tokens with the first ids; of the file's pieces the first `drop` have none
    after     tokens with the last ids
    language  the one that a text is in where the folder does not say
    """

    file: str
    specials: Mapping[str, str]
    text: str
    pair: str
    front: Sequence[str] = ()
    drop: int = 0
    after: Callable[[About], Sequence[str]] = field(default=named)
    language: str = ""


T5 = Layout("spiece.model", dict(pad="<pad>", eos="</s>", unk="<unk>"), "$A </s>", "$A </s> $B </s>", after=_extra)
XLM_ROBERTA = Layout(
    "sentencepiece.bpe.model", FAIRSEQ, "<s> $A </s>", "<s> $A </s> </s> $B </s>", FRONT, 3, _languages()
)
CAMEMBERT = Layout(
    "sentencepiece.bpe.model",
    FAIRSEQ,
    "<s> $A </s>",
    "<s> $A </s> </s> $B </s>",
    ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"),
    1,
    _languages(),
)
LAYOUTS = {
    "T5Tokenizer": T5,
    "MT5Tokenizer": T5,
    "XLMRobertaTokenizer": XLM_ROBERTA,
    "CamembertTokenizer": CAMEMBERT,
    "MBartTokenizer": Layout(
        "sentencepiece.bpe.model",
        FAIRSEQ,
        "$A </s> $L",
        "$A $B </s> $L",
        FRONT,
        3,
        _languages(*MBART),
        "en_XX",
    ),
    "MBart50Tokenizer": Layout(
        "sentencepiece.bpe.model",
        FAIRSEQ,
        "$L $A </s>",
        "$L $A $B </s>",
        FRONT,
        3,
        _languages(*MBART, *MBART50),
        "en_XX",
    ),
    "NllbTokenizer": Layout(
        "sentencepiece.bpe.model",
        FAIRSEQ,
        "$L $A </s>",
        "$L $A $B </s>",
        FRONT,
        3,
        lambda about: [*named(about), "<mask>"],
        "eng_Latn",
    ),
    "LlamaTokenizer": Layout("tokenizer.model", dict(bos="<s>", eos="</s>", unk="<unk>"), "<s> $A", "<s> $A <s> $B"),
    "DebertaV2Tokenizer": Layout(
        "spm.model",
        dict(pad="[PAD]", unk="[UNK]", cls="[CLS]", sep="[SEP]", mask="[MASK]"),
        "[CLS] $A [SEP]",
        "[CLS] $A [SEP] $B:1 [SEP]:1",
        after=lambda about: ["[MASK]"],
    ),
    "MarianTokenizer": Layout(
        "source.spm", dict(eos="</s>", unk="<unk>", pad="<pad>"), "$A </s>", "$A $B </s>", FRONT[1:]
    ),
    "M2M100Tokenizer": Layout(
        "sentencepiece.bpe.model",
        {role: token for role, token in FAIRSEQ.items() if role != "mask"},
        "$L $A </s>",
        "$L $A $B </s>",
        FRONT,
        language="__en__",
    ),
}
OF_MODELS = {
    "t5": "T5Tokenizer",
    "mt5": "T5Tokenizer",
    "umt5": "T5Tokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
    "camembert": "CamembertTokenizer",
    "mbart": "MBartTokenizer",
    "m2m_100": "M2M100Tokenizer",
    "marian": "MarianTokenizer",
    "llama": "LlamaTokenizer",
    "mistral": "LlamaTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
}
"""What a model's tokenizer is called where the folder does not say."""
