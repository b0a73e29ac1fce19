import math

import pytest
import torch
from tests.runs import TINY, words

from sublayer.data import Pair
from sublayer.errors import ConfigError, DataError
from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.tasks.search import Search
from sublayer.tasks.teaching import translation_loss
from sublayer.tasks.translate import Translate
from sublayer.text import train_tokenizer

WORDS = words()[:40]


@pytest.fixture
def short():
    """An untrained task with 6 learned positions."""
    tokenizer = train_tokenizer("char", ["abcde"])
    config = ModelConfig(source_vocab=9, target_vocab=9, position="learned", max_len=6, **TINY)
    return Translate(build(config).eval(), config, tokenizer, tokenizer, Search(max_ratio=100))


def test_it_answers_in_order_and_says_how_sure_it_is(task):
    answers = list(task.predict(WORDS))
    assert [found[0].text for found in answers] == [word[::-1] for word in WORDS]
    for word, (best,) in zip(WORDS, answers, strict=True):
        assert best.tokens == (*word[::-1], "</s>") and best.finished
        assert len(best.token_logps) == len(best.tokens)
        assert best.logp == pytest.approx(sum(best.token_logps))
        assert best.score == pytest.approx(best.logp / ((5 + len(best.tokens)) / 6) ** 0.6)


@pytest.mark.parametrize("beam", [1, 3])
def test_what_search_reports_is_what_teacher_forcing_gives(task, beam):
    answers = list(task.predict(WORDS, search=Search(beam=beam, nbest=beam)))
    for rank in range(beam):
        found = [each[rank] for each in answers]
        scored = list(task.score(Pair(word, f.text, n) for n, (word, f) in enumerate(zip(WORDS, found, strict=True))))
        torch.testing.assert_close([s.logp for s in scored], [f.logp for f in found], atol=1e-4, rtol=1e-5)
        assert [s.tokens for s in scored] == [f.tokens for f in found]
        for s, f in zip(scored, found, strict=True):
            torch.testing.assert_close(s.token_logps, f.token_logps, atol=1e-4, rtol=1e-5)


def test_a_wider_beam_finds_nothing_worse_and_the_best_comes_first(task):
    greedy = [found[0] for found in task.predict(WORDS, search=Search(beam=1, length_penalty=0))]
    beams = list(task.predict(WORDS, search=Search(beam=4, nbest=4, length_penalty=0)))
    assert all(found[0].score >= one.score - 1e-5 for found, one in zip(beams, greedy, strict=True))
    for found in beams:
        assert [f.score for f in found] == sorted((f.score for f in found), reverse=True)
        assert len({f.tokens for f in found}) == 4


def test_search_settings_are_those_of_the_task_unless_others_are_given(task):
    own = Translate(task.model, task.config, task.source, task.target, Search(beam=3, nbest=2))
    assert len(next(own.predict(["abc"]))) == 2
    assert len(next(own.predict(["abc"], search=Search()))) == 1


def test_the_length_rules_rank_by_their_own_scores(task):
    for rule, length in (("gnmt", lambda n: (5 + n) / 6), ("power", lambda n: n)):
        (best,) = next(task.predict(["abcd"], search=Search(beam=2, length_rule=rule, length_penalty=1.0)))
        assert best.score == pytest.approx(best.logp / length(5))


def test_an_answer_that_reaches_its_limit_is_cut_and_says_so(task):
    (cut,) = next(task.predict(["abcd"], search=Search(max_ratio=0.0, max_extra=2)))
    assert (cut.text, cut.tokens, cut.finished) == ("dc", ("d", "c"), False)


def test_padding_unknown_and_begin_never_come(task):
    fresh = Translate(build(task.config).eval(), task.config, task.source, task.target, Search(beam=4, nbest=4))
    said = {token for found in fresh.predict(WORDS) for answer in found for token in answer.tokens}
    assert said <= {*"abcde", "</s>"}


def test_a_line_of_unknown_letters_has_an_answer_too(task):
    assert len(list(task.predict(["xyz", "\u2028", "a"]))) == 3


def test_scores_are_in_the_order_of_the_pairs(task):
    pairs = [Pair(word, word[::-1], n) for n, word in enumerate(WORDS, 1)]
    scored = list(task.score(pairs))
    alone = [next(task.score([pair])) for pair in pairs]
    torch.testing.assert_close([s.logp for s in scored], [s.logp for s in alone], atol=1e-5, rtol=1e-5)
    assert all(s.logp == pytest.approx(sum(s.token_logps)) for s in scored)


def test_a_wrong_target_is_less_likely(task):
    right, wrong = task.score([Pair("abc", "cba", 1), Pair("abc", "abc", 2)])
    assert right.logp > -0.5 and wrong.logp < -5


def test_evaluation_counts_every_listed_target_as_right(task):
    pairs = [Pair("abc", "cba", 1), Pair("abc", "never", 2), Pair("ab", "ab", 3)]
    exact, loss, perplexity, cer = task.evaluate(pairs, ["exact", "loss", "perplexity", "cer"])
    assert (exact.value, exact.count) == (50.0, 2)
    assert (cer.value, cer.count) == (100 * 2 / 5, 5)  # cba of cba, and ba of ab: two edits of two
    assert loss.count == len("cba") + len("never") + len("ab") + 3
    total = -sum(s.logp for s in task.score(pairs))
    assert loss.value == pytest.approx(total / loss.count)
    assert perplexity.value == pytest.approx(math.exp(loss.value))
    assert "char tokens with EOS" in loss.signature


def test_evaluation_of_nothing_or_by_an_unknown_metric_is_refused(task):
    with pytest.raises(DataError, match="nothing to evaluate: 0 pairs"):
        task.evaluate([], ["loss"])
    with pytest.raises(ConfigError, match="Did you mean 'exact'"):
        task.evaluate([Pair("a", "a", 1)], ["exacct"])


def test_the_training_loss_is_the_sum_that_evaluation_divides(task):
    pairs = [Pair(word, word[::-1], 1) for word in WORDS[:7]]
    loss = translation_loss(task.model, task.batch(task.encode_pairs(pairs)))
    (measured,) = task.evaluate(pairs, ["loss"])
    assert loss.count == measured.count == sum(len(word) + 1 for word in WORDS[:7])
    assert loss.nll.item() / loss.count == pytest.approx(measured.value, abs=1e-5)
    smoothed = translation_loss(task.model, task.batch(task.encode_pairs(pairs)), 0.1)
    torch.testing.assert_close(smoothed.nll, loss.nll)
    assert smoothed.total > loss.total


def test_only_learned_positions_have_a_limit(task, short):
    assert (task.limit, short.limit) == (math.inf, 6)
    assert next(task.predict(["abcde" * 30])) and next(short.predict(["abcde"]))


def test_answers_of_learned_positions_end_in_time(short):
    for beam in (1, 3):
        answers = [found[0] for found in short.predict(["a", "abcde"], search=Search(beam=beam, max_ratio=100))]
        assert all(len(answer.tokens) <= 6 for answer in answers)
