"""G26: the length penalty counts generated tokens with EOS, and each hypothesis has its own length."""

import pytest
import torch
from tests.toy import EOS, START, A, B, Markov, random_tables, t4

from sublayer.generate import GNMT, Power, beam_search, greedy


class Steady:
    """Every token costs 0.75; the fourth generated one is EOS. The prefix has six."""

    def __init__(self):
        self.length = 0

    def step(self, tokens):
        self.length += tokens.size(1)
        logps = torch.full((len(tokens), 3), -20.0)
        logps[:, EOS if self.length == 9 else A] = -0.75
        return logps

    def select(self, rows):
        pass


def test_minus_three_over_four_tokens_after_a_prompt_of_six_is_minus_three_quarters():
    prompt = torch.full((1, 6), B)
    ((best,),) = beam_search(Steady(), prompt, eos=EOS, beam=2, max_len=10, length=Power(1))
    assert best.tokens == (A, A, A)
    assert best.logp == -3.0
    assert best.score == -0.75
    (best,) = greedy(Steady(), prompt, eos=EOS, max_len=10, length=Power(1))
    assert best.score == -0.75


@pytest.mark.parametrize("length", [Power(1), GNMT(1)])
def test_what_the_prompt_holds_before_its_last_token_changes_nothing(length):
    options = dict(eos=EOS, beam=3, max_len=6, length=length, nbest=3)
    short = beam_search(Markov(t4()), torch.tensor([[A]]), **options)
    assert beam_search(Markov(t4()), torch.tensor([[START, A, B, A, B, A]]), **options) == short


@pytest.mark.parametrize("length", [Power(1), Power(-0.5), GNMT(0.6)])
def test_finished_and_cut_hypotheses_are_scored_by_their_own_length(length):
    tables = random_tables(8, 5, seed=3)
    found = beam_search(Markov(tables), Markov(tables).start, eos=EOS, beam=6, max_len=4, length=length, nbest=6)
    everyone = [hypothesis for hypotheses in found for hypothesis in hypotheses]
    assert {hypothesis.finished for hypothesis in everyone} == {True, False}
    for hypothesis in everyone:
        assert hypothesis.score == length(hypothesis.logp, len(hypothesis.tokens) + hypothesis.finished)
