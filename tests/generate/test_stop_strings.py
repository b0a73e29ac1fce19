import pytest
import torch
from tests.toy import EOS, A, B, Markov, everything, random_tables, t4, teacher_forced

from sublayer.errors import ConfigError
from sublayer.generate import Guided, Power, StopStrings, beam_search, greedy, stream

PIECES = {1: "x.", 2: "\n", 3: "\n\ny"}


def text(tokens):
    return "".join(PIECES[token] for token in tokens)


def anything(tokens):
    return "".join(PIECES.get(token, "?") for token in tokens)


def test_t4_by_hand():
    # Greedy writes A B EOS; "b" ends it after B as surely as it does by itself, and at no cost.
    stop = StopStrings(lambda tokens: "".join(" ab"[token] for token in tokens), ["b"], EOS)
    (best,) = greedy(Guided(Markov(t4()), stop), Markov(t4()).start, eos=EOS, max_len=6, length=Power(1))
    assert best.tokens == (A, B) and best.finished
    assert best.token_logps == pytest.approx([-0.693147, -0.693147, 0], abs=1e-6)
    assert best.score == pytest.approx(-1.386294 / 3, abs=1e-6)
    assert stop.cut("ab") == "a"
    assert [t.token for t in stream(Guided(Markov(t4()), stop), Markov(t4()).start, eos=EOS, max_len=6)] == [A, B, EOS]


@pytest.mark.parametrize("stops", [["\n\n"], ["x.\n"], [".x"], ["\n\n\n", "y\n", "x.x."]])
def test_every_text_ends_with_its_first_stop_string_wherever_tokens_begin(stops):
    tables, limit = random_tables(3, 5, seed=0), 4
    stop = StopStrings(anything, stops, EOS)
    options = dict(eos=EOS, beam=121, nbest=121, max_len=limit, length=Power(0))
    for table, found in zip(
        tables, beam_search(Guided(Markov(tables), stop), Markov(tables).start, **options), strict=True
    ):
        expected = []
        for tokens, logp, ended in everything(table, limit):
            first = next((n for n in range(limit + 1) if any(s in text(tokens[:n]) for s in stops)), None)
            if first is None or first == len(tokens) == limit:
                expected.append((logp, tokens, ended))
            elif ended and first == len(tokens):
                expected.append((sum(teacher_forced(table, tokens)), tokens, True))
        expected.sort(reverse=True)
        assert {h.tokens for h in found} == {tokens for _, tokens, _ in expected} and len(found) == len(expected)
        assert [h.logp for h in found] == pytest.approx([logp for logp, *_ in expected], abs=1e-6)
        assert {(h.tokens, h.finished) for h in found} == {(tokens, ended) for _, tokens, ended in expected}
        assert any(h.finished and h.token_logps[-1] == 0 for h in found)


def test_a_narrow_beam_ends_there_too():
    tables = random_tables(6, 5, seed=1)
    stop = StopStrings(anything, ["\n\n"], EOS)
    found = beam_search(Guided(Markov(tables), stop), Markov(tables).start, eos=EOS, beam=3, nbest=3, max_len=12)
    stopped = [h for hypotheses in found for h in hypotheses if "\n\n" in text(h.tokens)]
    assert len(stopped) > 3
    for h in stopped:
        assert h.finished and h.token_logps[-1] == 0 and "\n\n" not in text(h.tokens[:-1])


def test_cut_leaves_what_stands_before_the_first():
    stop = StopStrings(text, ["END", "\n\n", "E"], EOS)
    assert stop.cut("one\n\ntwo END") == "one"
    assert stop.cut("one END\n\n") == "one "
    assert stop.cut("\n\n") == ""
    assert stop.cut("one\n") == "one\n"


def test_at_the_limit_the_text_is_not_finished():
    stop = StopStrings(lambda tokens: "".join(" ab"[token] for token in tokens), ["b"], EOS)
    (best,) = greedy(Guided(Markov(t4()), stop), Markov(t4()).start, eos=EOS, max_len=2)
    assert best.tokens == (A, B) and not best.finished and len(best.token_logps) == 2


def test_an_empty_stop_string_is_refused():
    with pytest.raises(ConfigError, match="An empty stop string stands in every text. Leave it out"):
        StopStrings(text, ["\n", ""], EOS)


def test_no_stop_strings_stop_nothing():
    tables = random_tables(2, 5, seed=0)
    free = greedy(Markov(tables), Markov(tables).start, eos=EOS, max_len=6)
    guided = Guided(Markov(tables), StopStrings(anything, [], EOS))
    assert greedy(guided, torch.full((2, 1), 4), eos=EOS, max_len=6) == free
