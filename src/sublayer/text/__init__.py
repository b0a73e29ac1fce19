"""Text to token ids and back. No torch here."""

from sublayer.text.ngrams import NGrams
from sublayer.text.special import BOS, EOS, PAD, SPECIALS, UNK, UNKNOWN
from sublayer.text.tokenizer import Tokenizer
from sublayer.text.train import KINDS, train_tokenizer

__all__ = ["BOS", "EOS", "KINDS", "NGrams", "PAD", "SPECIALS", "UNK", "UNKNOWN", "Tokenizer", "train_tokenizer"]
