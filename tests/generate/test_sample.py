from collections import Counter

import pytest
import torch
from tests.toy import EOS, START, A, B, Markov, everything, random_tables, t4, teacher_forced

from sublayer.errors import ConfigError, ShapeError
from sublayer.generate import Draw, Power, greedy, sample, stream
from sublayer.generate.sample import pick


def draw(tables, **options):
    decoding = Markov(tables)
    return sample(decoding, decoding.start, **dict(eos=EOS, max_len=6, seed=1) | options)


def written(hypothesis):
    return hypothesis.tokens + (EOS,) * hypothesis.finished


def test_texts_come_as_often_as_they_are_likely():
    (table,), n = random_tables(1, 4, seed=3), 5000
    (texts,) = draw(table[None], max_len=3, n=n)
    counts = Counter((h.tokens, h.finished) for h in texts)
    likely = {(tokens, ended): 2.718281828459045**logp for tokens, logp, ended in everything(table, 3)}
    assert counts.keys() <= likely.keys()
    for text, p in likely.items():
        assert abs(counts[text] / n - p) < 4 * (p * (1 - p) / n) ** 0.5 + 1e-3


def test_pick_by_hand():
    logps = torch.tensor([[0.25, 0.0, 0.5, 0.25, 0.0]]).double().log().expand(6, 5)
    numbers = torch.tensor([0.0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2**-53], dtype=torch.float64)
    assert pick(logps, numbers).tolist() == [0, 0, 2, 2, 3, 3]


def test_random_numbers_are_uniform_and_unlike_each_other():
    one, other = Draw(seed=5), Draw(seed=6)
    numbers = torch.tensor([one.number(row, step) for row in range(100) for step in range(100)], dtype=torch.float64)
    assert numbers.min() >= 0 and numbers.max() < 1
    assert torch.histc(numbers, 10, 0, 1).sub(1000).abs().max() < 4 * 30
    assert len(numbers.unique()) == 10_000
    assert one.number(0, 0) == Draw(seed=5).number(0, 0) != other.number(0, 0)


@pytest.mark.parametrize("options", [{}, dict(temperature=0.7, top_k=4), dict(top_p=0.8), dict(min_p=0.1)], ids=str)
def test_a_row_depends_on_nothing_else_in_the_batch(options):
    tables, limits = random_tables(7, 6, seed=0), torch.tensor([1, 2, 3, 5, 8, 13, 21])
    together = draw(tables, max_len=limits, n=3, **options)
    assert together == draw(tables, max_len=limits, n=3, keys=range(7), **options)
    for order in ([6, 3, 0, 5], [2], [4, 4, 1]):
        some = draw(tables[order], max_len=limits[order], n=3, keys=order, **options)
        assert some == [together[row] for row in order]


def test_fewer_texts_are_the_first_of_many():
    tables = random_tables(4, 6, seed=0)
    many = draw(tables, n=5)
    assert draw(tables, n=1) == [texts[:1] for texts in many]
    assert draw(tables, n=3) == [texts[:3] for texts in many]
    assert len({written(h) for texts in many for h in texts}) > 10


def test_another_seed_and_another_key_give_other_texts():
    tables = random_tables(1, 6, seed=0).expand(20, -1, -1, -1)
    assert draw(tables, seed=1) == draw(tables, seed=1) != draw(tables, seed=2)
    assert draw(tables, keys=range(20)) != draw(tables, keys=range(100, 120))
    assert len({written(h) for (h,) in draw(tables, keys=[7] * 20)}) == 1
    assert len({written(h) for (h,) in draw(tables)}) >= 10


@pytest.mark.parametrize("options", [dict(top_k=1), dict(top_p=1e-9), dict(min_p=1.0), dict(temperature=1e-3)], ids=str)
def test_where_one_token_is_left_it_is_greedy(options):
    tables = random_tables(9, 6, seed=4)
    expected = greedy(Markov(tables), Markov(tables).start, eos=EOS, max_len=6)
    assert draw(tables, n=2, **options) == [[h, h] for h in expected]


def test_temperature_comes_first_then_top_k_then_top_p_then_min_p():
    logps = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    left = Draw(0, temperature=0.5, top_k=3, top_p=0.8, min_p=0.6).shape(logps).exp()[0]
    # Squared 16 : 9 : 4 : 1; three of them stay; of these the first two (25/29 > 0.8); of these one, as 9/16 < 0.6.
    assert left.tolist() == pytest.approx([1, 0, 0, 0])
    left = Draw(0, temperature=0.5, top_k=3, top_p=0.8, min_p=0.5).shape(logps).exp()[0]
    assert left.tolist() == pytest.approx([16 / 25, 9 / 25, 0, 0])
    # Of all four the third would stay as well (25/30 < 0.85), of the first three it does not (25/29 > 0.85).
    left = Draw(0, temperature=0.5, top_k=3, top_p=0.85).shape(logps).exp()[0]
    assert left.tolist() == pytest.approx([16 / 25, 9 / 25, 0, 0])


def test_scores_are_those_of_the_model():
    tables = random_tables(8, 6, seed=5)
    for table, texts in zip(tables, draw(tables, n=4, temperature=1.7, top_k=4, never=(B,)), strict=True):
        for h in texts:
            assert B not in h.tokens
            assert h.token_logps == pytest.approx(teacher_forced(table, written(h)), abs=1e-6)
            assert h.logp == sum(h.token_logps)
    ((h,),) = draw(t4(), top_k=1, length=Power(1))
    assert h.tokens == (A, B) and h.score == pytest.approx(-1.609438 / 3, abs=1e-6)


def test_the_prefix_is_read_once_and_texts_that_ended_leave():
    tables = random_tables(3, 6, seed=0)
    decoding = Markov(tables)
    texts = sample(decoding, decoding.start, eos=EOS, max_len=torch.tensor([2, 1, 4]), seed=0, n=2, never=(EOS,))
    assert decoding.rows == [3, 4, 2, 2]
    assert [[len(h.tokens) for h in two] for two in texts] == [[2, 2], [1, 1], [4, 4]]


def test_a_stream_draws_the_same():
    tables = random_tables(4, 6, seed=0)
    tokens = [[] for _ in tables]
    for row, token, logp in stream(Markov(tables), Markov(tables).start, eos=EOS, max_len=6, choose=Draw(1, top_k=3)):
        tokens[row].append((token, logp))
    assert tokens == [list(zip(written(h), h.token_logps, strict=True)) for (h,) in draw(tables, top_k=3)]


def test_where_nothing_may_come_the_text_is_cut():
    (texts,) = draw(t4(), never=(EOS, A, B, START), n=2)
    assert [(h.tokens, h.logp, h.score, h.finished) for h in texts] == [((), 0, 0.0, False)] * 2


def test_no_rows_no_texts():
    assert sample(Markov(t4()), torch.empty(0, 1, dtype=torch.long), eos=EOS, max_len=3, seed=0, n=2) == []


def test_the_global_generator_stands_still():
    before = torch.random.get_rng_state()
    draw(random_tables(3, 6, 0), n=3)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_numbers_that_cannot_be_are_all_named():
    problems = (
        r"(?s)temperature=0: must be above 0; for the likeliest token use greedy.*top_k=-1: must be at least 1, or 0"
        r".*top_p=1.5: must be above 0 and at most 1.*min_p=-0.1: must be between 0, .* and 1.*n=0: ask for at least 1"
    )
    with pytest.raises(ConfigError, match=problems):
        draw(t4(), temperature=0, top_k=-1, top_p=1.5, min_p=-0.1, n=0)
    with pytest.raises(ShapeError, match="keys has 2 numbers, but there are 1 rows. Give one a row"):
        draw(t4(), keys=[1, 2])
    with pytest.raises(ConfigError, match="row 0 has max_len=0"):
        draw(t4(), max_len=0)
