import json

import pytest

from sublayer.errors import ConfigError, DataError
from sublayer.evaluate import METRICS, Score, direction, evaluate_texts


def test_scores_come_in_the_order_of_their_names_with_counts_and_units():
    scores = evaluate_texts(["wer", "exact", "cer"], ["a b", "cc"], [["a x"], ["cc", "d"]])
    assert [(s.name, s.value, s.count, s.unit) for s in scores] == [
        ("wer", pytest.approx(100 / 3), 3, "words"),
        ("exact", 50, 2, "items"),
        ("cer", 20, 5, "characters"),
    ]
    assert [s.signature for s in scores] == [
        "nrefs:var|ref:nearest|tok:space",
        "nrefs:var|ref:any",
        "nrefs:var|ref:nearest|tok:char",
    ]
    assert all(s.interval is None for s in scores)


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.measure])
def test_equal_texts_score_the_best_and_worse_ones_worse(name):
    texts = ["the cat sat on the mat", "a dog barked at me"]
    best, worse = (
        evaluate_texts([name], hypotheses, [[text] for text in texts])[0].value
        for hypotheses in (texts, [texts[0], "one dog barked at us"])
    )
    assert best == pytest.approx(100 if direction(name) else 0)
    assert (worse < best) == direction(name)


def test_a_score_is_one_line_and_one_record():
    score = Score("per", 4.1567, 71634, "phonemes", False, "nrefs:1|tok:space", (3.99, 4.333))
    assert str(score) == "per 4.16 (95 %: 3.99 to 4.33), 71,634 phonemes, nrefs:1|tok:space"
    assert json.loads(json.dumps(score.to_dict())) == {
        "name": "per",
        "value": 4.1567,
        "count": 71634,
        "unit": "phonemes",
        "higher_is_better": False,
        "signature": "nrefs:1|tok:space",
        "interval": [3.99, 4.333],
    }


def test_all_names_that_cannot_be_computed_are_told_at_once():
    with pytest.raises(ConfigError) as error:
        evaluate_texts(["blue", "exact", "perplexity"], ["a"], [["a"]])
    assert "unknown metric 'blue'. Did you mean 'bleu'?" in str(error.value)
    assert "'perplexity' comes from the model, not from texts. Of texts: exact, " in str(error.value)


def test_nothing_to_score_is_an_error():
    with pytest.raises(DataError, match="nothing to score: 0 hypotheses"):
        evaluate_texts(["exact"], [], [])


def test_items_without_a_reference_are_named():
    with pytest.raises(DataError, match=r"Give each at least one:\n  - item 1 .*\n  - item 2 "):
        evaluate_texts(["exact"], ["a", "b", "c"], [["a"], [], []])


def test_a_rate_over_empty_references_only_is_an_error():
    with pytest.raises(DataError, match="per divides by the references' phonemes, and they hold none"):
        evaluate_texts(["per"], ["a"], [[""]])
