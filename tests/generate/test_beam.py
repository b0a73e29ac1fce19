"""Beam search against enumeration, and against a plain re-telling of its rule."""

import pytest
import torch
from tests.toy import EOS, START, A, B, Markov, everything, random_tables, t4, teacher_forced

from sublayer.errors import ConfigError
from sublayer.generate import GNMT, Power, beam_search, early, exact

RULES = [rule(alpha) for rule in (GNMT, Power) for alpha in (-0.5, 0.0, 0.6, 1.0, 2.0)]


def search(tables, **options):
    decoding = Markov(tables)
    return beam_search(decoding, decoding.start, eos=EOS, **options)


def never_stop(kept, nbest, reach):
    return torch.zeros_like(reach, dtype=torch.bool)


def levels(texts, vocab, seed):
    """Tables with few different values: nearly every comparison is a tie."""
    draw = torch.Generator().manual_seed(seed)
    tables = -torch.randint(1, 4, (texts, vocab, vocab, vocab), generator=draw).double()
    tables[..., -1] = -torch.inf
    return tables


def plain(table, beam, max_len, length, nbest, stop):
    """The rule as the docstring tells it, one sentence at a time, in lists."""
    start = table.size(0) - 1
    running, ended, n = [(0.0, (start, start), ())], [], 0
    while running and n < max_len:
        n += 1
        continued = [
            (total + logp, -parent, logp, -token, (*text, token), (*logps, logp))
            for parent, (total, text, logps) in enumerate(running)
            for token, logp in enumerate(table[text[-2], text[-1]].float().tolist())
            if logp > -torch.inf
        ]
        best = sorted(continued, reverse=True)[: 2 * beam]
        complete = [c for c in best[:beam] if c[-2][-1] == EOS or n == max_len]
        ended += [(length(c[0], n), c[-2][2:], c[-1]) for c in complete]
        ended.sort(key=lambda end: -end[0])
        running = [(c[0], c[-2], c[-1]) for c in best if c[-2][-1] != EOS][:beam]
        if stop is early and len(ended) >= beam:
            break
    return ended[:nbest]


def found(hypotheses):
    """As ``plain`` tells them."""
    return [(h.score, h.tokens + (EOS,) * h.finished, h.token_logps) for h in hypotheses]


@pytest.mark.parametrize("length", RULES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_full_width_finds_everything_in_order(length, seed):
    tables = random_tables(4, 4, seed)
    for table, hypotheses in zip(tables, search(tables, beam=31, max_len=4, length=length, nbest=31), strict=True):
        texts = list(everything(table, 4))
        assert len(texts) == len(hypotheses) == 31
        expected = sorted((length(logp, len(t) + ended), t, ended) for t, logp, ended in texts)[::-1]
        assert [(h.tokens, h.finished) for h in hypotheses] == [(t, ended) for _, t, ended in expected]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, *_ in expected], abs=1e-6)


@pytest.mark.parametrize("length", RULES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_full_width_stopping_as_soon_as_it_may_finds_the_optimum(length, seed):
    tables = random_tables(6, 5, seed, spread=4.0)
    for table, (best,) in zip(tables, search(tables, beam=81, max_len=4, length=length), strict=True):
        expected = max((length(logp, len(t) + ended), t) for t, logp, ended in everything(table, 4))
        assert best.tokens == expected[1]
        assert best.score == pytest.approx(expected[0], abs=1e-6)


@pytest.mark.parametrize("stop", [exact, early])
@pytest.mark.parametrize("length", [GNMT(0.6), Power(1), Power(-0.5)], ids=str)
@pytest.mark.parametrize("tables", [random_tables(6, 7, 0), levels(6, 7, 1), levels(6, 4, 2)])
def test_it_does_what_the_docstring_says_ties_included(tables, length, stop):
    limits = torch.tensor([1, 2, 4, 6, 9, 9])
    for beam, nbest in ((1, 1), (2, 1), (3, 2), (5, 5)):
        ours = search(tables, beam=beam, max_len=limits, length=length, nbest=nbest, stop=stop)
        for table, limit, hypotheses in zip(tables, limits.tolist(), ours, strict=True):
            assert found(hypotheses) == plain(table, beam, limit, length, nbest, stop)


@pytest.mark.parametrize("length", RULES, ids=str)
@pytest.mark.parametrize("beam", [1, 2, 4])
def test_exact_stopping_loses_nothing_and_saves_steps(beam, length):
    tables = random_tables(20, 6, seed=beam, spread=4.0)
    options = dict(eos=EOS, beam=beam, max_len=12, length=length)
    stopping, going_on = Markov(tables), Markov(tables)
    result = beam_search(stopping, stopping.start, **options)
    assert result == beam_search(going_on, going_on.start, stop=never_stop, **options)
    assert sum(stopping.rows) < sum(going_on.rows)


@pytest.mark.parametrize("beam", [1, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_teacher_forced(beam, seed):
    tables = random_tables(5, 6, seed)
    length = GNMT(0.6)
    result = search(tables, beam=beam, max_len=7, nbest=beam, length=length)
    for table, hypotheses in zip(tables, result, strict=True):
        for h in hypotheses:
            expected = teacher_forced(table, [*h.tokens, *[EOS] * h.finished])
            assert h.token_logps == pytest.approx(expected, abs=1e-6)
            assert h.logp == sum(h.token_logps)
            assert h.score == length(h.logp, len(h.token_logps))


def test_impossible_tokens_are_never_kept():
    only_a = torch.full((1, 4, 4, 4), -torch.inf).double()
    only_a[..., A] = 0.0
    (hypotheses,) = search(only_a, beam=4, max_len=3, nbest=4)
    assert [h.tokens for h in hypotheses] == [(A, A, A)]
    (hypotheses,) = search(random_tables(1, 5, 0), beam=4, max_len=1, nbest=4, never=(A, EOS))
    assert {h.tokens for h in hypotheses} == {(B,), (3,)}


def test_the_prefix_is_read_once_a_sentence_and_sentences_that_are_done_leave():
    tables = random_tables(3, 6, seed=0)
    decoding = Markov(tables)
    beam_search(decoding, decoding.start, eos=EOS, beam=2, max_len=torch.tensor([2, 1, 4]), never=(EOS,))
    assert decoding.rows == [3, 4, 2, 2]


def test_no_sentences_no_hypotheses():
    start = torch.empty(0, 1, dtype=torch.long)
    assert beam_search(Markov(t4()), start, eos=EOS, beam=2, max_len=3) == []


def test_the_global_generator_stands_still():
    before = torch.random.get_rng_state()
    search(random_tables(3, 6, 0), beam=3, max_len=5)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_numbers_that_cannot_be_are_all_named():
    start = torch.tensor([[START]])
    with pytest.raises(ConfigError, match=r"nbest=5 .* more than beam=4 .* Raise beam to 5, or .* at most 4"):
        beam_search(Markov(t4()), start, eos=EOS, beam=4, max_len=3, nbest=5)
    with pytest.raises(ConfigError, match=r"(?s)beam=0: .* at least 1 wide.*nbest=0: ask for at least 1"):
        beam_search(Markov(t4()), start, eos=EOS, beam=0, max_len=3, nbest=0)
    with pytest.raises(ConfigError, match="row 0 has max_len=0"):
        beam_search(Markov(t4()), start, eos=EOS, beam=2, max_len=0)
