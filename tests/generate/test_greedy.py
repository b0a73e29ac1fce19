import pytest
import torch
from tests.toy import EOS, START, A, B, Markov, random_tables, t4, teacher_forced

from sublayer.errors import ConfigError, ShapeError
from sublayer.generate import Power, beam_search, early, greedy


def test_t4_by_hand():
    (best,) = greedy(Markov(t4()), torch.tensor([[START]]), eos=EOS, max_len=6, length=Power(1))
    assert best.tokens == (A, B)
    assert best.finished
    assert best.logp == pytest.approx(-1.609438, abs=1e-6)
    assert best.score == pytest.approx(-1.609438 / 3, abs=1e-6)
    assert best.token_logps == pytest.approx([-0.693147, -0.693147, -0.223144], abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_early_beam_search_of_width_one(seed):
    tables = random_tables(7, 6, seed)
    limits = torch.tensor([1, 2, 3, 5, 8, 13, 21])
    ours = greedy(Markov(tables), Markov(tables).start, eos=EOS, max_len=limits)
    theirs = beam_search(Markov(tables), Markov(tables).start, eos=EOS, max_len=limits, beam=1, stop=early)
    assert [[hypothesis] for hypothesis in ours] == theirs


@pytest.mark.parametrize("seed", range(5))
def test_every_token_is_the_likeliest_and_scores_are_teacher_forced(seed):
    tables = random_tables(8, 6, seed)
    found = greedy(Markov(tables), Markov(tables).start, eos=EOS, max_len=9)
    for table, hypothesis in zip(tables, found, strict=True):
        written = [*hypothesis.tokens, EOS] if hypothesis.finished else list(hypothesis.tokens)
        before, last = START + 2, START + 2
        for token in written:
            assert token == table[before, last].argmax()
            before, last = last, token
        assert hypothesis.token_logps == pytest.approx(teacher_forced(table, written), abs=1e-6)
        assert hypothesis.logp == sum(hypothesis.token_logps)


def test_rows_that_ended_leave_the_batch():
    tables = random_tables(3, 4, seed=0)
    decoding = Markov(tables)
    found = greedy(decoding, decoding.start, eos=EOS, max_len=torch.tensor([2, 1, 4]), never=(EOS,))
    assert decoding.rows == [3, 2, 1, 1]
    assert [len(hypothesis.tokens) for hypothesis in found] == [2, 1, 4]
    assert not any(hypothesis.finished for hypothesis in found)


def test_never_takes_the_next_best_and_keeps_its_probability():
    start = torch.tensor([[START]])
    (best,) = greedy(Markov(t4()), start, eos=EOS, max_len=6, never=(A,))
    assert best.tokens == () and best.finished
    assert best.logp == pytest.approx(-0.916291, abs=1e-6)
    (best,) = greedy(Markov(t4()), start, eos=EOS, max_len=6, never=(A, EOS))
    assert best.tokens == (B,) * 6


def test_of_equally_likely_tokens_the_lowest_is_taken():
    even = torch.full((1, 5, 5, 5), 0.2).log()
    (best,) = greedy(Markov(even), torch.tensor([[4]]), eos=3, max_len=3)
    assert best.tokens == (0, 0, 0)


def test_a_longer_prefix_is_read_and_not_given_back():
    (best,) = greedy(Markov(t4()), torch.tensor([[START, A, B]]), eos=EOS, max_len=6)
    assert best.tokens == ()
    assert best.logp == pytest.approx(-0.223144, abs=1e-6)


def test_no_rows_no_hypotheses():
    assert greedy(Markov(t4()), torch.empty(0, 1, dtype=torch.long), eos=EOS, max_len=3) == []


def test_limits_that_cannot_be_are_all_named():
    start = torch.full((3, 1), START)
    with pytest.raises(ConfigError, match=r"at least 1:\n  - row 0 has max_len=0\n  - row 2 has max_len=-4"):
        greedy(Markov(t4()), start, eos=EOS, max_len=torch.tensor([0, 3, -4]))
    with pytest.raises(ShapeError, match=r"max_len has shape \(2,\), .* 3 rows .* one a row: shape \(3,\)"):
        greedy(Markov(t4()), start, eos=EOS, max_len=torch.tensor([1, 2]))
