"""G12, search: a text that reaches its limit is given back, says so, and takes no other line with it."""

import pytest
from tests.toy import EOS, Markov, random_tables

from sublayer.generate import beam_search, greedy


@pytest.fixture
def three_lines_the_second_endless():
    tables = random_tables(3, 6, seed=1)
    tables[1, ..., EOS] = -1e4
    return tables


def test_greedy_cuts_and_says_so(three_lines_the_second_endless):
    decoding = Markov(three_lines_the_second_endless)
    found = greedy(decoding, decoding.start, eos=EOS, max_len=30)
    assert [hypothesis.finished for hypothesis in found] == [True, False, True]
    assert len(found[1].tokens) == 30


@pytest.mark.parametrize("beam", [1, 4])
def test_beam_search_cuts_and_says_so(three_lines_the_second_endless, beam):
    decoding = Markov(three_lines_the_second_endless)
    found = beam_search(decoding, decoding.start, eos=EOS, max_len=30, beam=beam, nbest=beam)
    assert [len(hypotheses) for hypotheses in found] == [beam] * 3
    assert [hypotheses[0].finished for hypotheses in found] == [True, False, True]
    assert all(len(h.tokens) == 30 for h in found[1] if not h.finished)
