"""From a kind's name to a trained tokenizer."""

from collections.abc import Callable, Iterable
from itertools import chain

from sublayer.errors import ConfigError, DataError, nearest
from sublayer.text import subword, words
from sublayer.text.plan import Plan
from sublayer.text.tokenizer import Tokenizer

KINDS: dict[str, Callable[[Iterable[str], Plan], Tokenizer]] = {
    "char": words.char,
    "backward": words.backward,
    "word": words.word,
    "split": words.split,
    "features": words.features,
    "bpe": subword.bpe,
    "unigram": subword.unigram,
    "wordpiece": subword.wordpiece,
}


def train_tokenizer(
    kind: str,
    texts: Iterable[str],
    *,
    vocab_size: int = 8000,
    min_count: int = 1,
    separator: str = " ",
    normalization: str = "nfc",
) -> Tokenizer:
    """Learn a vocabulary. The same texts, in any order and any run, give the same file to the byte.

    ==========  ==============================================  =====================  ==================
    kind        a token is                                      reads the settings     text read back
    ==========  ==============================================  =====================  ==================
    char        a Unicode character                             vocab_size, min_count  the same
    backward    a character, from the last to the first         vocab_size, min_count  the same
    word        what stands between white space                 vocab_size, min_count  one space for each
    split       what stands between separators                  separator              the same, cleaned
    features    ``lemma#V;PST``: a lemma's character, a feature  none                   the same
    bpe         a run of bytes, merged by count                 vocab_size, min_count  the same, always
    unigram     a run of bytes, chosen by likelihood            vocab_size             the same, always
    wordpiece   a start or a ``##`` continuation of a word      vocab_size, min_count  spaced by BERT
    ==========  ==============================================  =====================  ==================

    "The same" holds for what the vocabulary knows (``bpe`` and ``unigram`` know every byte); the rest reads
    as U+FFFD. It holds up to ``normalization``: nfc (default), nfd, nfkc or nfkd (Unicode Annex 15), or none,
    the identity. ``vocab_size`` counts the four special tokens; ``min_count`` drops rarer tokens, for ``bpe``
    and ``wordpiece`` rarer merges.

    Raises ConfigError for settings that cannot be, DataError where the texts hold nothing to learn.
    """
    if kind not in KINDS:
        raise ConfigError(f"Unknown kind of tokenizer {kind!r}. {nearest(kind, KINDS)}")
    plan = Plan(vocab_size, min_count, separator, normalization)
    filled = (text for text in texts if text)
    first = next(filled, None)
    if first is None:
        raise DataError("The texts to learn a vocabulary from are empty: give at least one that is not.")
    return KINDS[kind](chain([first], filled), plan)
