"""G29: n-best lists hold different texts, in order, as many as were asked for where they exist."""

import pytest
import torch
from tests.toy import EOS, START, A, B, Markov, random_tables, t4

from sublayer.errors import ConfigError
from sublayer.generate import GNMT, Power, beam_search, early, exact


def t4_search(**options):
    start = torch.tensor([[START]])
    (found,) = beam_search(Markov(t4()), start, eos=EOS, length=Power(1), **options)
    return found


def test_t4_beam_4_n_3():
    found = t4_search(beam=4, nbest=3, max_len=6)
    assert [hypothesis.tokens for hypothesis in found] == [(A, B), (A,), ()]
    scores = [hypothesis.score for hypothesis in found]
    assert scores == pytest.approx([-0.536479, -0.804719, -0.916291], abs=1e-6)


def test_there_are_as_many_as_exist():
    assert [h.tokens for h in t4_search(beam=4, nbest=4, max_len=1)] == [(A,), (), (B,)]
    assert len(t4_search(beam=9, nbest=9, max_len=2)) == 7
    assert len(t4_search(beam=7, nbest=6, max_len=2)) == 6


@pytest.mark.parametrize("stop", [exact, early])
@pytest.mark.parametrize("beam", [1, 2, 4, 6])
def test_different_sorted_complete_and_led_by_the_one_best(beam, stop):
    tables = random_tables(10, 7, seed=beam)
    options = dict(eos=EOS, beam=beam, max_len=8, length=GNMT(0.6), stop=stop)
    one = beam_search(Markov(tables), Markov(tables).start, **options)
    for n in range(1, beam + 1):
        found = beam_search(Markov(tables), Markov(tables).start, nbest=n, **options)
        for hypotheses, (best,) in zip(found, one, strict=True):
            assert hypotheses[0] == best
            assert len({h.tokens for h in hypotheses}) == len(hypotheses) == n
            assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
            assert all(token not in (EOS, START + 3) for h in hypotheses for token in h.tokens)


def test_n_above_the_beam_is_an_error():
    with pytest.raises(ConfigError, match=r"nbest=5 .* beam=4 .* Raise beam to 5, or ask for at most 4"):
        t4_search(beam=4, nbest=5, max_len=6)
