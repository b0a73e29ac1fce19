import pytest
import torch
from tests.toy import EOS, A, B, Markov, random_tables, t4, teacher_forced

from sublayer.errors import ConfigError, ShapeError
from sublayer.generate import Ensemble, Guided, MinLength, alternatives, beam_search, greedy, sample

SEARCHES = {
    "greedy": greedy,
    "beam": lambda *args, **options: beam_search(*args, **options, beam=3, nbest=3),
    "sample": lambda *args, **options: sample(*args, **options, seed=1, n=3),
}


def mean(*tables):
    return torch.stack(tables).exp().mean(0).log()


def test_t4_with_another_by_hand():
    other = torch.tensor([0.2, 0.15, 0.65, 0.0]).double().log().expand(1, 4, 4, 4)
    (first,) = alternatives(Ensemble([Markov(t4()), Markov(other)]), Markov(t4()).start, 3)
    assert [token for token, _ in first] == [B, A, EOS]  # (0.1 + 0.65) / 2, (0.5 + 0.15) / 2 and (0.4 + 0.2) / 2
    assert [logp for _, logp in first] == pytest.approx([-0.980829, -1.123930, -1.203973], abs=1e-6)
    (best,) = greedy(Ensemble([Markov(t4()), Markov(other)]), Markov(t4()).start, eos=EOS, max_len=6)
    assert best.tokens == (B,) and best.logp == pytest.approx(-0.980829 - 0.693147, abs=1e-6)


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES.keys())
def test_it_writes_as_the_model_whose_probabilities_are_the_mean(search):
    tables = [random_tables(4, 6, seed) for seed in range(3)]
    start, options = Markov(tables[0]).start, dict(eos=EOS, max_len=7)
    ours = search(Ensemble([Markov(table) for table in tables]), start, **options)
    theirs = search(Markov(mean(*tables)), start, **options)
    for table, found, expected in zip(mean(*tables), ours, theirs, strict=True):
        pairs = zip(*([h] if search is greedy else h for h in (found, expected)), strict=True)
        for h, same in pairs:
            assert (h.tokens, h.finished) == (same.tokens, same.finished)
            written = [*h.tokens, *[EOS] * h.finished]
            assert h.token_logps == pytest.approx(teacher_forced(table, written), abs=1e-5)


def test_one_model_and_the_same_model_twice_change_nothing():
    tables = random_tables(4, 6, seed=0)
    tokens = torch.full((4, 1), 5)
    alone = Markov(tables).step(tokens)
    torch.testing.assert_close(Ensemble([Markov(tables)]).step(tokens), alone)
    torch.testing.assert_close(Ensemble([Markov(tables), Markov(tables)]).step(tokens), alone)


def test_a_token_is_out_only_where_all_leave_it_out():
    tables = random_tables(1, 6, seed=0)

    def patient():
        return Guided(Markov(tables), MinLength(5, EOS))

    logps = Ensemble([patient(), Markov(tables)]).step(torch.full((1, 1), 5))
    assert logps[0, EOS].item() == pytest.approx((tables[0, 5, 5, EOS].exp() / 2).log().item(), abs=1e-6)
    assert Ensemble([patient(), patient()]).step(torch.full((1, 1), 5))[0, EOS] == -torch.inf


def test_half_precision_is_averaged_in_single():
    class Half(Markov):
        def step(self, tokens):
            return super().step(tokens).to(torch.bfloat16)

    tables = random_tables(2, 6, seed=0)
    assert Ensemble([Half(tables), Half(tables)]).step(torch.full((2, 1), 5)).dtype == torch.float32


def test_vocabularies_of_different_sizes_and_no_models_are_refused():
    ensemble = Ensemble([Markov(random_tables(1, 6, 0)), Markov(random_tables(1, 7, 0))])
    with pytest.raises(ShapeError, match="vocabularies of 6, 7 tokens. .* share their target vocabulary"):
        ensemble.step(torch.tensor([[1]]))
    with pytest.raises(ConfigError, match="no decodings .* Give at least one"):
        Ensemble([])
