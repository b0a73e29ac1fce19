"""The families that are read, by the model_type that their config.json says."""

from sublayer.interop.bert import BERT
from sublayer.interop.family import Family

FAMILIES: dict[str, Family] = {family.model_type: family for family in (BERT,)}
