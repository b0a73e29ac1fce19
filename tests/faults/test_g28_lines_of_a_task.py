"""G28, end to end: a line's text, tokens and scores know nothing of batch size, neighbours or order."""

import random

import pytest
from tests.runs import reverse_task, words

from sublayer.tasks import answering
from sublayer.tasks.search import Search

LINES = ["a", "eabcd", "", "bc", "abcdeabcdeabcde", "dd", "   ", *words()[:20], "abcde" * 8]


@pytest.fixture(scope="module")
def task():
    return reverse_task()


def flat(found):
    return [(answer.text, answer.tokens, answer.finished) for answers in found for answer in answers]


def numbers(found):
    return [x for answers in found for answer in answers for x in (answer.score, answer.logp, *answer.token_logps)]


@pytest.mark.parametrize("search", [Search(), Search(beam=4, nbest=3)], ids=["greedy", "beam"])
@pytest.mark.parametrize("tokens", [1, 60, 300, 10**6])
def test_any_batch_size(task, monkeypatch, search, tokens):
    expected = [next(task.predict([line], search=search)) for line in LINES]
    monkeypatch.setattr(answering, "BATCH_TOKENS", tokens)
    for window in (1, 3, 64):
        found = list(task.predict(LINES, search=search, window=window))
        assert flat(found) == flat(expected)
        assert numbers(found) == pytest.approx(numbers(expected), abs=1e-5)


@pytest.mark.parametrize("search", [Search(), Search(beam=4, nbest=3)], ids=["greedy", "beam"])
def test_any_order(task, search):
    expected = dict(zip(LINES, task.predict(LINES, search=search), strict=True))
    for seed in range(3):
        order = random.Random(seed).sample(LINES, len(LINES))
        found = list(task.predict(order, search=search))
        assert flat(found) == flat(expected[line] for line in order)
        assert numbers(found) == pytest.approx(numbers(expected[line] for line in order), abs=1e-5)
