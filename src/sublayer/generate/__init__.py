"""Search: from next-token log-probabilities to texts. It knows no model, only ``Decoding``."""

from sublayer.generate.alternatives import Alternative, alternatives
from sublayer.generate.banks import Banks
from sublayer.generate.beam import beam_search
from sublayer.generate.decoding import Decoding, Hypothesis, Without
from sublayer.generate.diverse import diverse_beam_search
from sublayer.generate.ensemble import Ensemble
from sublayer.generate.greedy import greedy
from sublayer.generate.guided import Guided, Rule
from sublayer.generate.length import GNMT, Length, Power
from sublayer.generate.required import Required
from sublayer.generate.rules import Forbidden, ForcedPrefix, MinLength, NoRepeat, RepetitionPenalty
from sublayer.generate.sample import Draw, sample
from sublayer.generate.stop import StopRule, early, exact
from sublayer.generate.stop_strings import StopStrings
from sublayer.generate.stream import Choice, Token, likeliest, stream

__all__ = [
    "GNMT",
    "Alternative",
    "Banks",
    "Choice",
    "Decoding",
    "Draw",
    "Ensemble",
    "Forbidden",
    "ForcedPrefix",
    "Guided",
    "Hypothesis",
    "Length",
    "MinLength",
    "NoRepeat",
    "Power",
    "RepetitionPenalty",
    "Required",
    "Rule",
    "StopRule",
    "StopStrings",
    "Token",
    "Without",
    "alternatives",
    "beam_search",
    "diverse_beam_search",
    "early",
    "exact",
    "greedy",
    "likeliest",
    "sample",
    "stream",
]
