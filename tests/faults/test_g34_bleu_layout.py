"""G34: references in another layout gave a wrong BLEU without a word."""

import pytest

from sublayer.errors import DataError
from sublayer.evaluate import evaluate_texts

HYPOTHESES = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
REFERENCES = ["The dog bit the man.", "It was not unexpected.", "The man bit him first."]


def bleu(hypotheses, references):
    return evaluate_texts(["bleu"], hypotheses, references)[0]


def test_the_right_layout_gives_the_right_value_and_tells_how():
    score = bleu(HYPOTHESES, [[reference] for reference in REFERENCES])
    assert score.value == pytest.approx(45.0675, abs=5e-5)
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in str(score)


def test_the_transposed_layout_is_refused():
    with pytest.raises(DataError, match=r"3 hypotheses and 1 lists .* looks transposed: write list\(zip\(\*ref"):
        bleu(HYPOTHESES, [REFERENCES])


def test_a_flat_list_is_refused():
    with pytest.raises(DataError, match=r"write \[\[text\] for text in references\]"):
        bleu(HYPOTHESES, REFERENCES)


def test_different_counts_are_refused():
    with pytest.raises(DataError, match="3 hypotheses and 2 lists of references"):
        bleu(HYPOTHESES, [[reference] for reference in REFERENCES[:2]])


def test_corpus_bleu_is_not_the_mean_of_sentence_scores():
    alone = [bleu([h], [[r]]).value for h, r in zip(HYPOTHESES, REFERENCES, strict=True)]
    assert abs(sum(alone) / len(alone) - 45.0675) > 1
