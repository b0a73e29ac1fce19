import math

import pytest
import torch

from sublayer.errors import ShapeError
from sublayer.inspect import by_word, head_statistics, rollout
from sublayer.text import train_tokenizer

BACK = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0, 1, 0]])  # each looks at the one before, the first at itself
EVEN = torch.full((3, 3), 1 / 3)


def test_worked_values_of_two_heads():
    found = head_statistics(torch.stack([BACK, EVEN])[None], torch.tensor([[5, 6, 5]]))
    torch.testing.assert_close(found.entropy, torch.tensor([0, math.log(3)], dtype=torch.double))
    torch.testing.assert_close(found.distance, torch.tensor([2 / 3, 8 / 9], dtype=torch.double))
    torch.testing.assert_close(found.previous, torch.tensor([1, 1 / 3], dtype=torch.double))  # of queries 1 and 2
    torch.testing.assert_close(found.following, torch.tensor([0, 1 / 3], dtype=torch.double))
    torch.testing.assert_close(found.own, torch.tensor([1 / 3, 1 / 3], dtype=torch.double))
    torch.testing.assert_close(found.same, torch.tensor([0, 1 / 3], dtype=torch.double))  # of queries 0 and 2


def test_padding_and_queries_that_see_nothing_do_not_count():
    padded = torch.zeros(2, 1, 5, 5)
    padded[0, 0, :3, :3] = EVEN
    padded[1, 0, :3, :3] = BACK
    padded[0, 0, 3:, :3] = 1 / 3  # what padding looks at
    keep = torch.arange(5)[None].expand(2, 5) < 3
    found = head_statistics(padded, keep=keep)
    whole = head_statistics(torch.stack([EVEN[None], BACK[None]]))
    for one, other in zip(found[:5], whole[:5], strict=True):
        torch.testing.assert_close(one, other)
    assert found.same is None


def test_what_is_not_defined_is_no_number():
    found = head_statistics(torch.ones(1, 1, 1, 1), torch.tensor([[3]]))
    assert found.own == 1 and found.previous.isnan() and found.same.isnan()
    with pytest.raises(ShapeError, match=r"\(1, 2, 3, 4\), expected \(batch, heads, T, T\)"):
        head_statistics(torch.zeros(1, 2, 3, 4))


def test_rollout_by_hand():
    first, second = rollout([BACK[None], EVEN[None]])
    torch.testing.assert_close(first, torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]))
    torch.testing.assert_close(second[0], torch.tensor([0.5 + 0.25, 1 / 6, 1 / 12]))
    torch.testing.assert_close(second.sum(-1), torch.ones(3))


def test_rollout_keeps_causality_rows_and_the_identity():
    causal = torch.rand(2, 4, 6, 6).tril()
    causal = causal / causal.sum(-1, keepdim=True)
    for found in rollout([causal] * 3):
        assert found.shape == (2, 6, 6) and (found.triu(1) == 0).all()
        torch.testing.assert_close(found.sum(-1), torch.ones(2, 6))
    for found in rollout([torch.eye(4)[None]] * 2 + [torch.zeros(1, 4, 4)]):  # one that sees nothing stays as it is
        torch.testing.assert_close(found, torch.eye(4))
    with pytest.raises(ShapeError, match=r"layer 1: .* \(2, 3, 4\), expected"):
        rollout([torch.zeros(2, 3, 3), torch.zeros(2, 3, 4)])


def test_words_gather_what_their_tokens_get_and_share_what_they_give():
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.5, 0.2], [0.0, 0.4, 0.6]])
    found = by_word(weights, [0, 0, 1], [0, 1, 1])
    torch.testing.assert_close(found, torch.tensor([[0.2, 0.8], [0.0, 1.0]]))
    torch.testing.assert_close(by_word(weights, [0, -1, 1], [0, 1, -1]), weights[::2, :2])
    with pytest.raises(ShapeError, match=r"\(3, 3\) and there are words for 2 rows and 3 columns"):
        by_word(weights, [0, 1], [0, 1, 2])


def test_words_of_a_tokenizer():
    words = train_tokenizer("bpe", ["ab ba"], vocab_size=260).words("abab ba")
    assert len(words.of) > len(words.texts) == 2
    n = len(words.of)
    found = by_word(torch.full((3, n, n), 1 / n), words.of, words.of)
    shares = torch.tensor([words.of.count(0), words.of.count(1)]) / n
    torch.testing.assert_close(found, shares.expand(3, 2, 2))
