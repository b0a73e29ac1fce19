"""Loss, perplexity and bits a character of a corpus. They divide once, so no choice of batches can change them."""

import math

from sublayer.errors import DataError


def token_mean(total: float, count: int) -> float:
    """Σ token losses / number of real tokens, over the whole set. EOS is a token; padding and BOS are not.

    total  the sum of all token losses, in nats
    """
    if count == 0:
        raise DataError("A mean loss needs at least one token, and there are 0. Is the evaluation set empty?")
    return total / count


def perplexity(total: float, count: int) -> float:
    """exp(Σ token losses / number of tokens); inf where that is beyond a float."""
    mean = token_mean(total, count)
    try:
        return math.exp(mean)
    except OverflowError:
        return math.inf


def bits_per_character(total: float, characters: int) -> float:
    """Σ token losses / (ln 2 · characters): how well a text could be compressed. It does not depend on how the text is
    cut into tokens, so models with other vocabularies compare."""
    return token_mean(total, characters) / math.log(2)
