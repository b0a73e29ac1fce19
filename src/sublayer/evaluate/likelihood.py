"""Loss and perplexity of a corpus. They divide once, so no choice of batches can change them."""

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
