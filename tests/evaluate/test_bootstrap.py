import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from sublayer.evaluate import evaluate_texts

HYPOTHESES = ["the cat sat on the mat", "a dog barked at me", "it rains all day long", "so be it then"] * 3
TRUTHS = ["the cat sat on a mat", "a dog barked at me", "it rained all day long", "so it shall be"] * 3


def interval(name, hypotheses, truths, samples=1000, seed=1):
    (found,) = evaluate_texts([name], hypotheses, [[t] for t in truths], bootstrap=samples, seed=seed)
    return found.interval


@pytest.mark.parametrize(("name", "theirs"), [("bleu", BLEU()), ("chrf", CHRF())])
def test_interval_equals_scoring_every_resampled_corpus(name, theirs):
    generator = np.random.default_rng(5)
    scores = []
    for _ in range(25):
        drawn = generator.integers(len(TRUTHS), size=len(TRUTHS))
        corpus = [HYPOTHESES[i] for i in drawn], [[TRUTHS[i] for i in drawn]]
        scores.append(theirs.corpus_score(*corpus).score)
    assert interval(name, HYPOTHESES, TRUTHS, 25, seed=5) == pytest.approx(np.percentile(scores, [2.5, 97.5]))


def test_interval_of_a_proportion_is_the_binomial_one():
    hypotheses = ["right"] * 300 + ["wrong"] * 100
    half_width = 1.96 * 100 * np.sqrt(0.75 * 0.25 / 400)
    assert interval("exact", hypotheses, ["right"] * 400) == pytest.approx((75 - half_width, 75 + half_width), abs=0.7)


def test_the_seed_decides():
    assert interval("wer", HYPOTHESES, TRUTHS, 50) == interval("wer", HYPOTHESES, TRUTHS, 50)
    assert interval("wer", HYPOTHESES, TRUTHS, 50) != interval("wer", HYPOTHESES, TRUTHS, 50, seed=2)


def test_equal_items_leave_no_doubt():
    assert interval("wer", ["a b"] * 5, ["a c"] * 5) == (50, 50)


def test_a_sample_of_empty_references_is_finite():
    low, high = interval("wer", ["a", "b"], ["", "b"], 100)
    assert (low, high) == (0, 200)  # the second item twice; the first item twice: two insertions
