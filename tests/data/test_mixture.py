import numpy as np
import pytest

from sublayer.data.bucket import TokenBatches
from sublayer.data.mixture import Joined


def drawn(joined, seed=0):
    return np.bincount(joined.draw(np.random.default_rng(seed)), minlength=len(joined))


def test_it_is_all_parts_end_to_end():
    joined = Joined([["a", "b"], [], ["c"]], [1, 1, 1])
    assert len(joined) == 3 and list(joined) == ["a", "b", "c"] == [joined[i] for i in range(3)]
    assert joined[-1] == "c" and joined[1:] == ["b", "c"]
    with pytest.raises(IndexError):
        joined[3]


def test_at_temperature_1_and_equal_weights_each_example_comes_once():
    assert drawn(Joined([range(10), range(30)], [1, 1])).tolist() == [1] * 40


def test_weights_are_odds_of_an_example():
    counts = drawn(Joined([range(20), range(20)], [1, 3]))
    assert counts.sum() == 40
    assert counts[:20].sum() == 10 and set(counts[:20]) == {0, 1}  # p = 20 / (20 + 60)
    assert counts[20:].sum() == 30 and set(counts[20:]) == {1, 2}  # all of it before any comes again


@pytest.mark.parametrize(("temperature", "small"), [(1, 10), (2, 25), (1e9, 50)])
def test_temperature_makes_corpora_alike(temperature, small):
    """10 and 90 examples; √10 : √90 is 1 : 3; in the end half and half."""
    assert drawn(Joined([range(10), range(90)], [1, 1], temperature))[:10].sum() == small


def test_an_epoch_is_a_function_of_seed_and_number():
    joined = Joined([range(50), range(7)], [1, 5])
    batches = TokenBatches([(4, 4)] * 57, 20, draw=joined.draw)
    first, second = (list(batches.epoch(number)) for number in (0, 1))
    assert first == list(batches.epoch(0)) != second
    assert sum(map(len, first)) == 57 and max(map(len, first)) == 5


def test_others_in_their_place_are_drawn_as_often():
    joined = Joined([range(3), range(9)], [1, 2], 3.0)
    assert (drawn(joined) == drawn(joined.over([list("abc"), list("abcdefghi")]))).all()
