import math

import pytest
import torch

from sublayer.errors import ConfigError, ShapeError
from sublayer.nn import FairseqSinusoidal, Learned, Rotary, Sinusoidal


def at(positions, *where):
    index = torch.tensor(where)
    return positions(index, max(where) + 1)


@pytest.mark.parametrize("width", [1, 2, 3, 6, 7])
def test_sinusoids_are_the_formula(width):
    table = at(Sinusoidal(width), 0, 1, 5, 300)
    for row, p in zip(table, (0, 1, 5, 300), strict=True):
        for i in range(width):
            angle = p / 10000 ** (2 * (i // 2) / width)
            expected = math.cos(angle) if i % 2 else math.sin(angle)
            assert row[i].item() == pytest.approx(expected, abs=3e-5)


def test_the_two_layouts_hold_the_same_numbers():
    interleaved, halves = at(Sinusoidal(8), 3), at(Sinusoidal(8, layout="halves"), 3)
    assert halves.equal(torch.cat((interleaved[:, 0::2], interleaved[:, 1::2]), -1))
    interleaved, halves = at(Sinusoidal(5), 3), at(Sinusoidal(5, layout="halves"), 3)
    assert halves.equal(torch.cat((interleaved[:, 0::2], interleaved[:, 1::2]), -1))


@pytest.mark.parametrize("make", [Sinusoidal, Rotary])
def test_theta_and_layout_are_options(make):
    fast = make(4, theta=100.0)
    x = torch.arange(2) if make is Sinusoidal else torch.randn(1, 1, 2, 4)
    assert not fast(x, 2).equal(make(4)(x, 2))


def test_an_unknown_layout_names_the_known_ones():
    with pytest.raises(ConfigError, match=r"layout='halfs' is unknown\. Write 'interleaved' or 'halves'\."):
        Sinusoidal(4, layout="halfs")


def test_learned_positions_are_rows_of_the_table():
    learned = Learned(6, 4, offset=2)
    assert learned.table.weight.shape == (8, 4)
    assert at(learned, 0, 5).equal(learned.table.weight[[2, 7]])


def test_learned_positions_end():
    learned = Learned(6, 4)
    words = r"a sequence of 7 positions is longer than the 6 that were learned\. Cut the text, or build .*max_len"
    with pytest.raises(ShapeError, match=words):
        learned(torch.arange(7), 7)
    assert learned(torch.arange(6), 6).shape == (6, 4)


def test_a_packed_row_may_be_longer_than_the_learned_positions_and_its_texts_may_not():
    learned = Learned(6, 4)
    assert learned(torch.tensor([[0, 1, 2, 3, 4, 5, 0, 1, 2]]), 9)[0, 6:].equal(learned.table.weight[:3])
    with pytest.raises(ShapeError, match="a sequence of 7 positions is longer than the 6 that were learned"):
        learned(torch.tensor([[0, 1, 0, 1, 2, 3, 4, 5, 6]]), 9)


def test_rotary_takes_a_position_for_each():
    rotary, x = Rotary(4), torch.randn(2, 3, 5, 4)
    index = torch.tensor([[0, 1, 0, 1, 2], [7, 8, 9, 0, 1]])
    turned = rotary(x, 0, index)
    torch.testing.assert_close(turned[0, :, 2:], rotary(x[:1, :, 2:])[0])
    torch.testing.assert_close(turned[1, :, :3], rotary(x[1:, :, :3], 7)[0])
    torch.testing.assert_close(turned[1, :, 3:], rotary(x[1:, :, 3:])[0])


@pytest.mark.parametrize("layout, pairs", [("halves", [(0, 2), (1, 3)]), ("interleaved", [(0, 1), (2, 3)])])
def test_rotary_turns_pairs_by_their_angle(layout, pairs):
    x = torch.randn(1, 1, 1, 4)
    turned = Rotary(4, layout=layout)(x, 7)[0, 0, 0]
    for i, (a, b) in enumerate(pairs):
        angle = 7 / 10000 ** (2 * i / 4)
        one, two = x[0, 0, 0, a].item(), x[0, 0, 0, b].item()
        assert turned[a].item() == pytest.approx(one * math.cos(angle) - two * math.sin(angle), abs=1e-5)
        assert turned[b].item() == pytest.approx(two * math.cos(angle) + one * math.sin(angle), abs=1e-5)


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_rotary_depends_on_the_distance_only(layout):
    rotary = Rotary(8, layout=layout)
    q, k = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)
    products = [(rotary(q, start + 3) * rotary(k, start)).sum() for start in (0, 1, 50, 200)]
    torch.testing.assert_close(torch.stack(products), products[0].expand(4), rtol=0, atol=1e-4)
    assert abs((rotary(q, 4) * rotary(k, 0)).sum() - products[0]) > 1e-2


def test_rotary_keeps_lengths_and_leaves_position_0_alone():
    x = torch.randn(2, 3, 5, 8)
    turned = Rotary(8)(x)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    assert turned[:, :, 0].equal(x[:, :, 0])


def test_rotary_refuses_an_odd_width():
    with pytest.raises(ConfigError, match=r"d_k=5 is odd\. Choose an even head width\."):
        Rotary(5)


def test_sinusoids_of_fairseq_by_hand():
    table = at(FairseqSinusoidal(6), 0, 3)
    for row, p in zip(table, (2, 5), strict=True):
        angles = [p * f for f in (1.0, 0.01, 0.0001)]
        expected = [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
        torch.testing.assert_close(row, torch.tensor(expected))
    assert at(FairseqSinusoidal(6, offset=0), 2)[0].equal(table[0])
    with pytest.raises(ConfigError, match="fairseq's sinusoids come in pairs, and d_model=7: choose 4, 6, 8 or more"):
        FairseqSinusoidal(7)
