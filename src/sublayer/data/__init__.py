"""Files to pairs, pairs to batches."""

from sublayer.data.examples import Pair, Pairs, group
from sublayer.data.read import read_lines, read_pairs

__all__ = ["Pair", "Pairs", "group", "read_lines", "read_pairs"]
