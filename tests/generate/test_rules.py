"""Each rule on numbers that can be followed by hand. The laws that all rules share stand in test_guided.py."""

import pytest
import torch
from tests.toy import EOS, A, B, Markov, everything, random_tables, t4, teacher_forced

from sublayer.errors import ConfigError
from sublayer.generate import (
    Forbidden,
    ForcedPrefix,
    Guided,
    MinLength,
    NoRepeat,
    Power,
    RepetitionPenalty,
    beam_search,
    greedy,
)

OUT = -torch.inf


def search(*rules, tables=None):
    tables = t4() if tables is None else tables
    return greedy(Guided(Markov(tables), *rules), Markov(tables).start, eos=EOS, max_len=6)[0]


def after(rule, *written, vocab=5):
    """What a rule makes of even numbers after these tokens: the tokens that are out."""
    logps = torch.zeros(1, vocab)
    changed = rule(logps, torch.tensor([written], dtype=torch.long).view(1, -1), torch.tensor([0]))
    return [token for token, logp in enumerate(changed[0].tolist()) if logp == OUT]


def test_minimum_length_by_hand():
    assert after(MinLength(3, EOS)) == after(MinLength(3, EOS), A) == [EOS]
    assert after(MinLength(3, EOS), A, B) == []
    # Greedy writes A B EOS. With 4 tokens at least, A follows B (A and B tie there), then B, then EOS.
    best = search(MinLength(4, EOS))
    assert best.tokens == (A, B, A, B)
    assert best.token_logps == pytest.approx([-0.693147, -0.693147, -2.302585, -0.693147, -0.223144], abs=1e-6)
    assert search(MinLength(3, EOS)).tokens == (A, B)
    assert search(MinLength(9, EOS)).finished is False


def test_repetition_penalty_by_hand():
    logps = torch.tensor([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]).log()
    changed = RepetitionPenalty(2.0)(logps, torch.tensor([[1, 1], [2, 0]]), torch.tensor([0, 1]))
    torch.testing.assert_close(changed.exp(), torch.tensor([[0.5, 0.0625, 0.25], [0.25, 0.25, 0.0625]]))
    # After A B both have ln 0.1, twice that now. After A B A it is EOS at ln 0.4, as B falls from ln 0.5 to ln 0.25.
    best = search(RepetitionPenalty(2.0), MinLength(4, EOS))
    assert best.tokens == (A, B, A)
    assert best.token_logps == pytest.approx([-0.693147, -0.693147, -4.605170, -0.916291], abs=1e-6)


def test_repetition_penalty_against_enumeration():
    tables = random_tables(2, 5, seed=0)
    options = dict(eos=EOS, beam=121, nbest=121, max_len=4, length=Power(0))
    found = beam_search(Guided(Markov(tables), RepetitionPenalty(1.5)), Markov(tables).start, **options)
    for table, hypotheses in zip(tables, found, strict=True):
        expected = []
        for tokens, _, ended in everything(table, 4):
            text = tokens + (EOS,) * ended
            logps = [
                logp * (1.5 if t in text[:i] else 1)
                for i, (t, logp) in enumerate(zip(text, teacher_forced(table, text), strict=True))
            ]
            expected.append((sum(logps), text))
        expected.sort(reverse=True)
        assert [h.tokens + (EOS,) * h.finished for h in hypotheses] == [text for _, text in expected]
        assert [h.logp for h in hypotheses] == pytest.approx([logp for logp, _ in expected], abs=1e-5)


def test_no_repeat_by_hand():
    assert after(NoRepeat(1), 3, 1) == [1, 3]
    assert after(NoRepeat(2), 1, 2, 3, 1, 4, 1) == [2, 4]
    assert after(NoRepeat(2), 2, 2) == [2]
    assert after(NoRepeat(3), 1, 2, 3, 1, 2) == [3]
    assert after(NoRepeat(3), 1, 2, 3, 2, 2) == after(NoRepeat(3), 1, 2) == after(NoRepeat(2)) == []
    # A B A, then B would make A B again: of EOS 0.4, A 0.1 the first is taken.
    assert search(MinLength(4, EOS), NoRepeat(2)).tokens == (A, B, A)


def test_forbidden_phrases_by_hand():
    rule = Forbidden([[3], [1, 2], [4, 1, 2], [1, 1, 4], [1, 4]])
    assert after(rule) == after(rule, 2) == [3]
    assert after(rule, 1) == [2, 3, 4]
    assert after(rule, 2, 1, 1) == [2, 3, 4]
    assert after(rule, 1, 2) == [3]
    assert after(Forbidden([[4, 1, 2]]), 4, 1) == [2]
    assert after(Forbidden([[4, 1, 2]]), 3, 1) == after(Forbidden([]), 3, 1) == []
    best = search(Forbidden([[A, B]]))
    assert best.tokens == (A,)
    assert best.logp == pytest.approx(-0.693147 - 0.916291, abs=1e-6)


def test_forced_prefixes_by_hand():
    tables = t4().expand(3, -1, -1, -1)
    found = greedy(Guided(Markov(tables), ForcedPrefix([[B, A], [], [B]])), Markov(tables).start, eos=EOS, max_len=6)
    assert [h.tokens for h in found] == [(B, A, B), (A, B), (B,)]
    assert found[0].token_logps == pytest.approx([-2.302585, -2.302585, -0.693147, -0.223144], abs=1e-6)
    assert found[2].token_logps == pytest.approx([-2.302585, -0.223144], abs=1e-6)


def test_nothing_forced_is_nothing_changed():
    tables = random_tables(2, 5, seed=0)
    free = greedy(Markov(tables), Markov(tables).start, eos=EOS, max_len=6)
    assert greedy(Guided(Markov(tables), ForcedPrefix([[], []])), Markov(tables).start, eos=EOS, max_len=6) == free


def test_numbers_that_cannot_be():
    with pytest.raises(ConfigError, match="penalty=0: must be above 0; 1 changes nothing"):
        RepetitionPenalty(0)
    with pytest.raises(ConfigError, match="n=0: must be at least 1"):
        NoRepeat(0)
    with pytest.raises(
        ConfigError, match=r"at least one token id, .*\n  - phrase 1 is \[\]\n  - phrase 2 is \[1, -3\]"
    ):
        Forbidden([[2], [], [1, -3]])
    with pytest.raises(ConfigError, match=r"must be at least 0:\n  - row 1 has \[4, -1\]"):
        ForcedPrefix([[], [4, -1]])
