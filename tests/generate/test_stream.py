import pytest
import torch
from tests.toy import EOS, START, A, B, Markov, random_tables, t4

from sublayer.errors import ConfigError
from sublayer.generate import Token, alternatives, greedy, stream


def test_t4_by_hand():
    tokens = list(stream(Markov(t4()), torch.tensor([[START]]), eos=EOS, max_len=6))
    assert [token[:2] for token in tokens] == [(0, A), (0, B), (0, EOS)]
    assert [token.logp for token in tokens] == pytest.approx([-0.693147, -0.693147, -0.223144], abs=1e-6)


def test_each_token_comes_before_the_model_is_asked_for_the_next():
    decoding = Markov(random_tables(2, 6, seed=0))
    tokens = stream(decoding, decoding.start, eos=EOS, max_len=torch.tensor([1, 3]), never=(EOS,))
    assert decoding.rows == []
    seen = [(token.row, len(decoding.rows)) for token in tokens]
    assert seen == [(0, 1), (1, 1), (1, 2), (1, 3)]


def test_its_tokens_are_those_of_greedy():
    tables, limits = random_tables(7, 6, seed=1), torch.tensor([1, 2, 3, 5, 8, 13, 21])
    found = [[] for _ in tables]
    for token in stream(Markov(tables), Markov(tables).start, eos=EOS, max_len=limits):
        found[token.row].append(token)
    for row, h in enumerate(greedy(Markov(tables), Markov(tables).start, eos=EOS, max_len=limits)):
        tokens = h.tokens + (EOS,) * h.finished
        assert found[row] == [Token(row, *pair) for pair in zip(tokens, h.token_logps, strict=True)]


def test_a_row_for_which_nothing_may_come_is_cut_and_the_others_go_on():
    only_a = torch.full((4, 4, 4), -torch.inf).double()
    only_a[..., A] = 0.0
    stuck = only_a.clone()
    stuck[A, A] = -torch.inf
    dead = torch.full_like(only_a, -torch.inf)
    tables = torch.stack([stuck, only_a, dead])
    found = greedy(Markov(tables), Markov(tables).start, eos=EOS, max_len=4)
    assert [(h.tokens, h.finished, h.logp) for h in found] == [
        ((A, A), False, 0),
        ((A, A, A, A), False, 0),
        ((), False, 0),
    ]


def test_limits_that_cannot_be_are_named_before_the_first_token():
    with pytest.raises(ConfigError, match="row 0 has max_len=0"):
        stream(Markov(t4()), torch.tensor([[START]]), eos=EOS, max_len=0)


def test_alternatives_by_hand():
    tables = t4().expand(2, -1, -1, -1)
    first, second = alternatives(Markov(tables), torch.tensor([[START, START], [START, A]]), 3)
    assert [token for token, _ in first] == [A, EOS, B]
    assert [logp for _, logp in first] == pytest.approx([-0.693147, -0.916291, -2.302585], abs=1e-6)
    assert [token for token, _ in second] == [B, EOS, A]
    ((one,),) = alternatives(Markov(t4()), torch.tensor([[START, B]]), 1, never=(EOS,))
    assert one.token == A and one.logp == pytest.approx(-2.302585, abs=1e-6)  # A and B tie: the lower id


def test_impossible_tokens_are_no_alternatives():
    (found,) = alternatives(Markov(t4()), torch.tensor([[START]]), 9)
    assert [token for token, _ in found] == [A, EOS, B]
    with pytest.raises(ConfigError, match="k=0: ask for at least 1"):
        alternatives(Markov(t4()), torch.tensor([[START]]), 0)
