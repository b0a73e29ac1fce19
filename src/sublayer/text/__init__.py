"""Text to token ids and back. No torch here."""

from sublayer.text.inputs import Inputs
from sublayer.text.ngrams import NGrams
from sublayer.text.pretrained import PretrainedTokenizer
from sublayer.text.saved import load_side, load_vocabulary
from sublayer.text.side import PublishedSide
from sublayer.text.special import BOS, EOS, PAD, SPECIALS, UNK, UNKNOWN
from sublayer.text.tagged import Tagged
from sublayer.text.tokenizer import Tokenizer
from sublayer.text.train import KINDS, train_tokenizer
from sublayer.text.units import Words

AnyTokenizer = Tokenizer | Tagged | PublishedSide
"""What a model that writes has on either side."""

__all__ = [
    "BOS",
    "EOS",
    "KINDS",
    "PAD",
    "SPECIALS",
    "UNK",
    "UNKNOWN",
    "AnyTokenizer",
    "Inputs",
    "NGrams",
    "PretrainedTokenizer",
    "PublishedSide",
    "Tagged",
    "Tokenizer",
    "Words",
    "load_side",
    "load_vocabulary",
    "train_tokenizer",
]
