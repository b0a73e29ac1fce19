import pytest
import torch
from tests.toy import EOS, A, B, Markov, everything, random_tables, t4, teacher_forced

from sublayer.errors import ConfigError, ShapeError
from sublayer.generate import Banks, Guided, NoRepeat, Power, Required, beam_search, early, greedy, sample

PHRASES = [[], [[3]], [[1, 2], [2]], [[3, 1], [2, 2]], [[2, 1, 2], [1, 1]]]
LIMIT = 5


def required(tables, phrases, **options):
    """The best texts of a beam with banks."""
    rule = Required(phrases, EOS, options["max_len"])
    guided = Guided(Markov(tables), rule)
    return beam_search(guided, Markov(tables).start, eos=EOS, propose=Banks(guided, rule), **options)


def written(hypothesis):
    return hypothesis.tokens + (EOS,) * hypothesis.finished


def holds_all(tokens, phrases):
    text = ",".join(["", *map(str, tokens), ""])
    return all(",".join(["", *map(str, phrase), ""]) in text for phrase in phrases)


def best_texts(table, phrases, limit, n, length):
    """By enumeration."""
    texts = [
        (length(logp, len(tokens) + ended), tokens)
        for tokens, logp, ended in everything(table, limit)
        if holds_all(tokens, phrases)
    ]
    return sorted(texts, reverse=True)[:n]


def test_t4_by_hand():
    # The likeliest text is EOS at 0.4, then A B EOS at 0.2; with B B in it, A B B EOS at 0.5 · 0.5 · 0.1 · 0.8 = 0.02
    # before B B EOS at 0.1 · 0.1 · 0.8.
    options = dict(beam=4, max_len=6, length=Power(0))
    ((best,),) = required(t4(), [[]], **options)
    assert best.tokens == ()
    ((best,),) = required(t4(), [[[B]]], **options)
    assert best.tokens == (A, B) and best.logp == pytest.approx(-1.609438, abs=1e-6)
    ((best,),) = required(t4(), [[[B, B]]], **options)
    assert best.tokens == (A, B, B) and best.logp == pytest.approx(-3.912023, abs=1e-6)
    # As the first token B (0.1) begins the phrase; a beam of 1 takes it at once.
    ((best,),) = required(t4(), [[[B, B]]], beam=1, max_len=6)
    assert best.tokens == (B, B) and best.logp == pytest.approx(-2 * 2.302585 - 0.223144, abs=1e-6)


@pytest.mark.parametrize("length", [Power(0), Power(1)], ids=str)
def test_a_wide_beam_finds_the_best_texts_that_hold_the_phrases(length):
    tables = random_tables(5, 5, seed=0)
    found = required(tables, PHRASES, beam=400, nbest=20, max_len=LIMIT, length=length)
    for table, phrases, hypotheses in zip(tables, PHRASES, found, strict=True):
        expected = best_texts(table, phrases, LIMIT, 20, length)
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in expected], abs=1e-6)


@pytest.mark.parametrize("beam", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", range(3))
def test_every_text_of_every_search_holds_its_phrases_with_the_models_scores(beam, seed):
    tables = random_tables(5, 5, seed)
    start, options = Markov(tables).start, dict(eos=EOS, max_len=LIMIT)

    def guided():
        return Guided(Markov(tables), Required(PHRASES, EOS, LIMIT))

    searches = (
        [[h] for h in greedy(guided(), start, **options)],
        sample(guided(), start, **options, n=5, seed=seed, temperature=2.0),
        beam_search(guided(), start, **options, beam=beam, nbest=beam),
        required(tables, PHRASES, max_len=LIMIT, beam=beam, nbest=beam),
        required(tables, PHRASES, max_len=LIMIT, beam=beam, nbest=beam, stop=early),
    )
    for found in searches:
        for table, phrases, hypotheses in zip(tables, PHRASES, found, strict=True):
            assert hypotheses
            for h in hypotheses:
                assert holds_all(h.tokens, phrases)
                assert h.token_logps == pytest.approx(teacher_forced(table, written(h)), abs=1e-6)


def test_banks_find_better_places_than_waiting_does():
    tables = random_tables(40, 8, seed=1, spread=3.0)
    phrases = [[[1 + i % 6, 1 + i // 6 % 6]] for i in range(40)]
    rule = Required(phrases, EOS, 12)
    waiting = beam_search(Guided(Markov(tables), rule), Markov(tables).start, eos=EOS, beam=4, max_len=12)
    banked = required(tables, phrases, beam=4, max_len=12)
    gain = torch.tensor([ours.score - theirs.score for (ours,), (theirs,) in zip(banked, waiting, strict=True)])
    assert gain.mean() > 0.5 and (gain > -1e-9).float().mean() > 0.7


def test_banks_by_hand():
    # Two hypotheses of one sentence: 1 has neither phrase, 7 has one. What is likeliest has come no further.
    rule = Required([[[7], [8]]], EOS, 9)
    guided = Guided(Markov(t4()), rule)
    guided.state = torch.tensor([[1], [7]]), torch.tensor([0, 0])
    logps = torch.full((2, 10), -9.0).double()
    logps[0, 1:5] = torch.tensor([-1.0, -1.1, -1.2, -1.3]).double()
    logps[1, 5] = -6
    found = Banks(guided, rule)(logps, torch.tensor([[-1.0, -2.0]]).double(), 4)
    # Both phrases; then one: the likeliest of the second; then none; then one again.
    assert found.parent.tolist() == [[1, 1, 0, 0]]
    assert found.token.tolist() == [[8, 5, 1, 7]]
    assert found.total.tolist() == [pytest.approx([-11, -8, -2, -10])]
    assert found.logp.tolist() == [pytest.approx([-9, -6, -1, -9])]
    few = Banks(guided, rule)(logps.index_fill(1, torch.arange(8), -torch.inf), torch.zeros(1, 2).double(), 5)
    assert few.parent[0, :4].tolist() == [1, 0, 0, 1]
    assert few.token[0, :4].tolist() == [8, 8, 9, 9]
    assert few.total.tolist() == [[-9, -9, -9, -9, -torch.inf]]


def test_nothing_required_is_a_plain_beam_search():
    tables = random_tables(6, 6, seed=2)
    options = dict(beam=3, nbest=3, max_len=7)
    expected = beam_search(Markov(tables), Markov(tables).start, eos=EOS, **options)
    assert required(tables, [[]] * 6, **options) == expected


def test_a_sentence_depends_on_nothing_else_in_the_batch():
    tables, limits = random_tables(5, 5, seed=3), torch.tensor([1, 2, 4, 5, 9])
    together = required(tables, PHRASES, beam=3, nbest=3, max_len=limits)
    for order in ([4, 2, 0, 3, 1], [3], [1, 1, 4]):
        some = required(tables[order], [PHRASES[i] for i in order], beam=3, nbest=3, max_len=limits[order])
        assert some == [together[row] for row in order]


def test_what_is_needed_by_hand():
    rule = Required([[[1, 2, 1, 3], [4, 4], [2, 1], [4, 4]]], EOS, 6)
    assert rule.phrases == [[(1, 2, 1, 3), (4, 4)]]  # 2 1 stands in the first, and 4 4 once is enough
    assert rule.need(0, ()) == 6 and rule.onward(0, ()) == {1, 4}
    assert rule.need(0, (4, 1, 2, 1)) == 3 and rule.onward(0, (4, 1, 2, 1)) == {3, 4}
    assert rule.need(0, (1, 2, 1, 2)) == 4 and rule.onward(0, (1, 2, 1, 2)) == {1, 4}
    assert rule.need(0, (4, 4, 1, 2, 1, 3)) == 0 and rule.onward(0, (4, 4, 1, 2, 1, 3)) == set()


def test_with_no_room_to_spare_the_phrases_are_all_there_is():
    tables = random_tables(1, 5, seed=0)
    found = required(tables, [[[3, 1], [2, 2]]], beam=8, nbest=8, max_len=4)[0]
    assert {h.tokens for h in found} == {(3, 1, 2, 2), (2, 2, 3, 1)}
    assert not any(h.finished for h in found)


def test_where_another_rule_forbids_a_phrase_there_is_no_text():
    rule = Required([[[1, 1]]], EOS, 5)
    guided = Guided(Markov(random_tables(1, 5, seed=0)), rule, NoRepeat(1))
    start = torch.tensor([[4]])
    assert beam_search(guided, start, eos=EOS, beam=3, max_len=5, propose=Banks(guided, rule)) == [[]]


def test_phrases_that_cannot_be_are_all_named():
    problems = (
        r"(?s)cannot be required:\n  - row 0 has \[\]: a phrase is one or more .*row 0 has \[1, 0\]: .* not EOS \(0\)"
        r".*row 2 has phrases of 5 tokens, and max_len=4: raise it to 5"
    )
    with pytest.raises(ConfigError, match=problems):
        Required([[[], [1, EOS]], [], [[1, 2, 3], [4, 4]]], EOS, 4)
    with pytest.raises(ShapeError, match="has phrases for 2 rows, but there are 1 rows"):
        greedy(Guided(Markov(t4()), Required([[], []], EOS, 4)), Markov(t4()).start, eos=EOS, max_len=4)
