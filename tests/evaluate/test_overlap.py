import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from sublayer.evaluate import evaluate_texts

HYPOTHESES = ["The cat sat on the mat.", "A dog, barked at me.", "你好世界吗", "Nothing"]
FIRST = ["The cat sat on a mat.", "A dog barked at me!", "你好世界", "Something"]
SECOND = ["The cat was on the mat.", None, None, "Nothing at all"]
ONE = [[text] for text in FIRST]
SEVERAL = [[text for text in pair if text is not None] for pair in zip(FIRST, SECOND, strict=True)]


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("bleu", BLEU()),
        ("bleu:zh", BLEU(tokenize="zh")),
        ("bleu:intl", BLEU(tokenize="intl")),
        ("bleu:char", BLEU(tokenize="char")),
        ("bleu:none", BLEU(tokenize="none")),
        ("chrf", CHRF()),
        ("ter", TER()),
    ],
)
@pytest.mark.parametrize(("references", "streams"), [(ONE, [FIRST]), (SEVERAL, [FIRST, SECOND])])
def test_scores_and_signatures_equal_sacrebleu(name, theirs, references, streams):
    (found,) = evaluate_texts([name], HYPOTHESES, references)
    assert found.value == pytest.approx(theirs.corpus_score(HYPOTHESES, streams).score, abs=1e-9)
    assert found.signature == str(theirs.get_signature())
    assert found.count == 4


def test_the_tokenizers_differ_here_and_tell_it():
    names = ["bleu", "bleu:zh", "bleu:char", "bleu:none"]
    scores = evaluate_texts(names, HYPOTHESES, ONE)
    assert len({score.value for score in scores}) == len(names)
    assert ["tok:13a" in s.signature for s in scores] == [True, False, False, False]
    assert "tok:none" in scores[-1].signature


@pytest.mark.parametrize(("name", "warned"), [("bleu", True), ("bleu:none", False)])
def test_tokenised_text_is_warned_of_unless_it_is_meant(caplog, name, warned):
    tokenised = ["The cat sat on the mat ."] * 100
    evaluate_texts([name], tokenised, [[text] for text in tokenised])
    assert ("forgot to detokenize" in caplog.text) == warned
