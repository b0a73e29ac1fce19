"""The families that are read, by the model_type that their config.json says."""

from sublayer.interop.bert import BERT
from sublayer.interop.distilbert import DISTILBERT
from sublayer.interop.electra import ELECTRA
from sublayer.interop.family import Family
from sublayer.interop.gpt2 import GPT2
from sublayer.interop.llama import LLAMA, MISTRAL, QWEN2
from sublayer.interop.roberta import CAMEMBERT, ROBERTA, XLM_ROBERTA

ENCODERS = (BERT, ROBERTA, XLM_ROBERTA, CAMEMBERT, DISTILBERT, ELECTRA)
DECODERS = (GPT2, LLAMA, MISTRAL, QWEN2)

FAMILIES: dict[str, Family] = {family.model_type: family for family in (*ENCODERS, *DECODERS)}
