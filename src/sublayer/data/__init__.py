"""Files to examples, examples to batches."""

from sublayer.data.examples import Corpus, Pair, Pairs, group
from sublayer.data.read import read_lines, read_pairs

__all__ = ["Corpus", "Pair", "Pairs", "group", "read_lines", "read_pairs"]
