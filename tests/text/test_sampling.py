"""Frequencies are held against chances that are worked out by hand, within four standard deviations."""

import math
import random
from collections import Counter
from itertools import combinations

import pytest

from sublayer.errors import ConfigError
from sublayer.text import train_tokenizer
from sublayer.text.sampling import BpeDropout, UnigramSampling

TEXTS = ["the lowest and the newest, the widest of 12 lower ones\n", "der Fluss fließt 你好 lower newer wider"] * 3
DRAWS = 4000


def tokenizer(kind):
    return train_tokenizer(kind, TEXTS, vocab_size=330)


def drawn(recut, word):
    draw = random.Random(1).random
    return Counter(tuple(recut.cut(word, draw)) for _ in range(DRAWS))


def near(found, expected):
    assert found.keys() <= expected.keys()
    for cut, p in expected.items():
        assert abs(found[cut] - DRAWS * p) <= 4 * math.sqrt(DRAWS * p * (1 - p)) + 1e-9, cut


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_merges_fall_out_with_their_chance(p):
    recut = BpeDropout(tokenizer("bpe"), p)
    recut.ranks = {("a", "b"): 0, ("ab", "c"): 1}
    near(drawn(recut, "abc"), {("abc",): (1 - p) ** 2, ("ab", "c"): (1 - p) * p, ("a", "b", "c"): p})
    # Of "bc" and "ab", two ways to begin, the one of lower rank goes first where both are left in.
    recut.ranks = {("b", "c"): 0, ("a", "b"): 1}
    near(drawn(recut, "abc"), {("a", "bc"): 1 - p, ("ab", "c"): p * (1 - p), ("a", "b", "c"): p * p})


def cuts(word):
    for n in range(len(word)):
        for places in combinations(range(1, len(word)), n):
            ends = [0, *places, len(word)]
            yield tuple(word[a:b] for a, b in zip(ends, ends[1:], strict=False))


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_cuts_come_as_often_as_their_likelihood_to_the_alpha(alpha):
    found = UnigramSampling(tokenizer("unigram"), alpha)
    scores = {"a": -2.0, "b": -3.0, "c": -2.5, "ab": -3.5, "bc": -2.2, "abc": -5.0}
    found.weights, found.longest = {piece: alpha * score for piece, score in scores.items()}, 3
    weights = {cut: math.exp(alpha * sum(scores[part] for part in cut)) for cut in cuts("abc")}
    total = sum(weights.values())
    near(drawn(found, "abc"), {cut: weight / total for cut, weight in weights.items()})


@pytest.mark.parametrize(
    ("kind", "made"), [("bpe", lambda t: BpeDropout(t, 0.0)), ("unigram", lambda t: UnigramSampling(t, 1e4))]
)
def test_without_chance_a_text_is_cut_as_ever(kind, made):
    cut = tokenizer(kind)
    recut, draw = made(cut), random.Random(0).random
    for text in [*TEXTS, "", " ", "unseen wörds 😀 "]:
        ids = cut.encode(text)
        assert recut(ids, draw) == ids


@pytest.mark.parametrize(
    ("kind", "made"), [("bpe", lambda t: BpeDropout(t, 0.5)), ("unigram", lambda t: UnigramSampling(t, 0.1))]
)
def test_the_text_stays_and_the_same_chance_gives_the_same_cut(kind, made):
    cut = tokenizer(kind)
    recut = made(cut)
    for text in [*TEXTS, "", "unseen wörds 😀 "]:
        one, again, other = (recut(cut.encode(text), random.Random(seed).random) for seed in (1, 1, 2))
        assert cut.decode(one) == cut.decode(other) == text and one == again
        assert one != other or text not in TEXTS


def test_a_vocabulary_of_another_kind_is_refused():
    with pytest.raises(ConfigError, match="BpeDropout is for kind 'bpe', not 'unigram'"):
        BpeDropout(tokenizer("unigram"), 0.1)
    with pytest.raises(ConfigError, match="UnigramSampling is for kind 'unigram', not 'bpe'"):
        UnigramSampling(tokenizer("bpe"), 0.1)
