"""G17: loss and perplexity of an evaluation must not know how it was batched or ordered."""

import math
import random

import pytest
from tests.runs import reverse_task, words

from sublayer.data import Pair
from sublayer.tasks import given

PAIRS = [Pair(word, (word[::-1] + "e")[: n % 5 + 1], n) for n, word in enumerate(words()[:60], 1)]


@pytest.fixture(scope="module")
def task():
    return reverse_task()


def measured(task, pairs):
    return [score.value for score in task.evaluate(pairs, ["loss", "perplexity"])]


@pytest.mark.parametrize("tokens", [1, 12, 42, 10**6])
@pytest.mark.parametrize("window", [1, 7, 1024])
def test_any_batch_size(task, monkeypatch, tokens, window):
    expected = measured(task, PAIRS)
    monkeypatch.setattr(given, "BATCH_TOKENS", tokens)
    monkeypatch.setattr(given, "WINDOW", window)
    assert measured(task, PAIRS) == pytest.approx(expected, rel=1e-6)


def test_any_order(task):
    shuffled = random.Random(0).sample(PAIRS, len(PAIRS))
    assert measured(task, shuffled) == pytest.approx(measured(task, PAIRS), rel=1e-6)


def test_it_is_the_sum_over_the_number_of_target_tokens_with_eos(task):
    alone = [next(task.score([pair])) for pair in PAIRS]
    tokens = sum(len(pair.target) + 1 for pair in PAIRS)
    loss, perplexity = task.evaluate(PAIRS, ["loss", "perplexity"])
    assert loss.count == perplexity.count == tokens
    assert loss.value == pytest.approx(-sum(s.logp for s in alone) / tokens, rel=1e-6)
    assert perplexity.value == pytest.approx(math.exp(loss.value), rel=1e-9)
