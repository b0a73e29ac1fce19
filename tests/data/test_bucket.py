from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sublayer.data.bucket import TokenBatches, padding

SIZES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60)


def cost(batch, sizes):
    return len(batch) * max(max(sizes[row]) for row in batch)


@settings(deadline=None)
@given(SIZES, st.integers(1, 120), st.integers(0, 5))
def test_each_example_once_within_the_budget(sizes, budget, epoch):
    for batches in (list(TokenBatches(sizes, budget).epoch(epoch)), TokenBatches(sizes, budget).in_order()):
        assert sorted(chain(*batches)) == list(range(len(sizes)))
        assert all(len(batch) == 1 or cost(batch, sizes) <= budget for batch in batches)
        assert all(type(row) is int for row in chain(*batches))


def test_a_batch_is_filled_up_to_the_budget():
    assert [len(batch) for batch in TokenBatches([(3, 2)] * 10, 12).in_order()] == [4, 4, 2]
    assert [len(batch) for batch in TokenBatches([(2, 3)] * 10, 11).in_order()] == [3, 3, 3, 1]


def test_an_example_beyond_the_budget_is_a_batch_of_its_own():
    assert TokenBatches([(2, 2), (100, 1), (1, 90), (2, 2)], 10).in_order() == [[2], [0, 3], [1]]


def test_the_order_of_an_epoch_follows_from_seed_and_number_alone():
    sizes = [(n % 7 + 1, n % 5 + 1) for n in range(50)]
    batches = TokenBatches(sizes, 20, seed=4)
    first = list(batches.epoch(3))
    list(batches.epoch(4)), np.random.rand(3)
    assert list(batches.epoch(3)) == list(TokenBatches(sizes, 20, seed=4).epoch(3)) == first
    assert first not in (list(batches.epoch(4)), list(TokenBatches(sizes, 20, seed=5).epoch(3)))


def test_equally_long_examples_meet_others_in_the_next_epoch():
    batches = TokenBatches([(3, 3)] * 30, 15)
    together = [{frozenset(batch) for batch in batches.epoch(number)} for number in range(2)]
    assert not together[0] & together[1]


def test_short_and_long_batches_are_mixed_in_an_epoch_and_sorted_in_order():
    sizes = [(n + 1, 1) for n in range(60)]
    starts = [sizes[batch[0]][0] for batch in TokenBatches(sizes, 60).epoch(0)]
    assert starts != sorted(starts)
    starts = [sizes[batch[0]][0] for batch in TokenBatches(sizes, 60).in_order()]
    assert starts == sorted(starts)


@pytest.mark.parametrize("seed", range(3))
def test_little_of_a_batch_is_padding(seed):
    draw = np.random.default_rng(seed)
    lengths = draw.integers(3, 15, 2000)
    sizes = list(zip(lengths.tolist(), (lengths + draw.integers(-2, 3, 2000)).tolist(), strict=True))
    batches = list(TokenBatches(sizes, 512).epoch(0))
    for side, least in ((0, 0.97), (1, 0.89)):  # sources are sorted; targets follow them
        real = sum(size[side] for size in sizes)
        held = sum(len(batch) * max(sizes[row][side] for row in batch) for batch in batches)
        assert real / held > least, side


def test_targets_run_up_and_down_in_turn():
    sizes = [(source, target) for source in range(1, 6) for target in range(1, 9)]
    targets = [sizes[row][1] for batch in TokenBatches(sizes, 8).in_order() for row in batch]
    assert max(abs(a - b) for a, b in pairwise(targets)) == 1


def test_how_much_is_padding():
    assert padding([(3, 2), (1, 4), (3, 4)]) == 4  # 3 rows of 3 and of 4
    assert padding([(5, 2), (5, 2)]) == padding([(7, 1)]) == 0


def test_nothing_gives_no_batch():
    assert list(TokenBatches([], 10).epoch(0)) == TokenBatches([], 10).in_order() == []
