"""The families that are read. Of several with one model_type, the first that has all that config.json asks for."""

from sublayer.interop.bart import BART, M2M100, MARIAN, MBART
from sublayer.interop.bert import BERT
from sublayer.interop.deberta import DEBERTA, DEBERTA_ABSOLUTE, DEBERTA_V2, DEBERTA_V2_ABSOLUTE
from sublayer.interop.distilbert import DISTILBERT
from sublayer.interop.electra import ELECTRA
from sublayer.interop.family import Family
from sublayer.interop.gpt2 import GPT2
from sublayer.interop.llama import LLAMA, MISTRAL, QWEN2
from sublayer.interop.modernbert import MODERNBERT
from sublayer.interop.roberta import CAMEMBERT, ROBERTA, XLM_ROBERTA
from sublayer.interop.t5 import MT5, T5, T5_GATED, UMT5

DEBERTAS = (DEBERTA_ABSOLUTE, DEBERTA, DEBERTA_V2_ABSOLUTE, DEBERTA_V2)
ENCODERS = (BERT, ROBERTA, XLM_ROBERTA, CAMEMBERT, DISTILBERT, ELECTRA, *DEBERTAS, MODERNBERT)
DECODERS = (GPT2, LLAMA, MISTRAL, QWEN2)
ENCODER_DECODERS = (T5, T5_GATED, MT5, UMT5, BART, MBART, MARIAN, M2M100)

FAMILIES: tuple[Family, ...] = (*ENCODERS, *DECODERS, *ENCODER_DECODERS)
