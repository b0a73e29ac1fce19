"""G17: loss and perplexity depended on the batch size. They divide once, by all tokens."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sublayer.evaluate import perplexity, token_mean


def test_two_sentences_of_one_and_six_tokens():
    total, count = 3 + 12, 1 + 6
    assert token_mean(total, count) == pytest.approx(2.142857, abs=1e-6)
    assert perplexity(total, count) == pytest.approx(8.523757, abs=1e-6)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 50), st.integers(1, 30)), min_size=1, max_size=40),
    st.integers(1, 8),
    st.randoms(),
)
def test_batch_size_and_order_change_nothing(sentences, batch_size, random):
    shuffled = random.sample(sentences, len(sentences))
    batches = [shuffled[i : i + batch_size] for i in range(0, len(shuffled), batch_size)]
    total = sum(sum(loss for loss, _ in batch) for batch in batches)
    count = sum(sum(tokens for _, tokens in batch) for batch in batches)
    whole = sum(loss for loss, _ in sentences) / sum(tokens for _, tokens in sentences)
    assert token_mean(total, count) == pytest.approx(whole, abs=1e-6)
