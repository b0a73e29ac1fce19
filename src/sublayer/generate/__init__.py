"""Search: from next-token log-probabilities to texts. It knows no model, only ``Decoding``."""

from sublayer.generate.beam import beam_search
from sublayer.generate.decoding import Decoding, Hypothesis, Without
from sublayer.generate.greedy import greedy
from sublayer.generate.length import GNMT, Length, Power
from sublayer.generate.stop import StopRule, early, exact

__all__ = [
    "GNMT",
    "Decoding",
    "Hypothesis",
    "Length",
    "Power",
    "StopRule",
    "Without",
    "beam_search",
    "early",
    "exact",
    "greedy",
]
