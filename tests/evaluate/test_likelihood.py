import math

import pytest

from sublayer.errors import DataError
from sublayer.evaluate import bits_per_character, perplexity, token_mean


def test_perplexity_of_a_uniform_guess_is_the_number_of_choices():
    assert perplexity(10 * math.log(50), 10) == pytest.approx(50)


def test_a_diverged_model_has_infinite_perplexity():
    assert perplexity(1e6, 1) == math.inf


@pytest.mark.parametrize("function", [token_mean, perplexity])
def test_no_tokens_is_an_error_and_never_nan(function):
    with pytest.raises(DataError, match="at least one token, and there are 0. Is the evaluation set empty"):
        function(0.0, 0)


def test_bits_a_character_do_not_depend_on_the_tokens():
    # 8 characters, each of 4 equally likely ones: 2 bits, whether they are 8 tokens or 4 of two characters
    assert bits_per_character(8 * math.log(4), 8) == bits_per_character(4 * math.log(16), 8) == pytest.approx(2)
