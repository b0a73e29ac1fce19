import random

import pytest

from sublayer.data.slide import View, views
from sublayer.errors import DataError


def test_what_fits_is_one_window():
    assert views([1] * 8, 8) == [View(0, 8, 0, 8)]
    assert views([3, 1], float("inf")) == [View(0, 2, 0, 2)]


def test_neighbours_share_about_half_and_divide_in_its_middle():
    assert views([1] * 10, 4) == [View(0, 4, 0, 3), View(2, 6, 3, 5), View(4, 8, 5, 7), View(6, 10, 7, 10)]


@pytest.mark.parametrize("seed", range(20))
def test_every_item_is_answered_for_once_by_a_window_that_holds_it(seed):
    draw = random.Random(seed)
    sizes = [draw.randint(1, 6) for _ in range(draw.randint(1, 60))]
    found = views(sizes, 12)
    assert [i for view in found for i in range(view.first, view.last)] == list(range(len(sizes)))
    for view in found:
        assert view.start <= view.first < view.last <= view.end
        assert sum(sizes[view.start : view.end]) <= 12


def test_an_item_too_large_is_named():
    with pytest.raises(DataError, match="word 2 is 9 tokens and the model reads 8 at a time"):
        views([1, 9], 8)
