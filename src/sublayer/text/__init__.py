"""Text to token ids and back. No torch here."""

from sublayer.text.ngrams import NGrams
from sublayer.text.pretrained import Inputs, PretrainedTokenizer
from sublayer.text.saved import load_vocabulary
from sublayer.text.special import BOS, EOS, PAD, SPECIALS, UNK, UNKNOWN
from sublayer.text.tokenizer import Tokenizer
from sublayer.text.train import KINDS, train_tokenizer
from sublayer.text.units import Words

__all__ = [
    "BOS",
    "EOS",
    "KINDS",
    "PAD",
    "SPECIALS",
    "UNK",
    "UNKNOWN",
    "Inputs",
    "NGrams",
    "PretrainedTokenizer",
    "Tokenizer",
    "Words",
    "load_vocabulary",
    "train_tokenizer",
]
