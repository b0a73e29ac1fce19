import numpy as np
import pytest

from sublayer.data.noise import Noise

IDS = list(range(10, 60))


def random(seed=0):
    return np.random.default_rng(seed)


def test_without_noise_nothing_changes():
    assert Noise()(IDS, 1, random()) == IDS


def test_dropped_ones_leave_the_rest_in_order():
    found = [Noise(drop=0.2)(IDS, 1, random(seed)) for seed in range(200)]
    assert all(ids == sorted(ids) and set(ids) <= set(IDS) for ids in found)
    assert np.mean([len(ids) for ids in found]) == pytest.approx(40, abs=0.8)
    assert Noise(drop=0.99)([7], 1, random()) == [7]


def test_blanked_ones_are_unknown():
    found = [Noise(blank=0.3)(IDS, 1, random(seed)) for seed in range(200)]
    assert all(new in (1, old) for ids in found for new, old in zip(ids, IDS, strict=True))
    assert np.mean([ids.count(1) for ids in found]) == pytest.approx(15, abs=0.8)


def test_mixed_ones_stay_near():
    for seed in range(50):
        found = Noise(mix=3)(IDS, 1, random(seed))
        assert sorted(found) == IDS and found != IDS
        assert max(abs(place - IDS.index(token)) for place, token in enumerate(found)) <= 3


def test_the_same_generator_gives_the_same():
    noise = Noise(0.1, 0.1, 2)
    assert noise(IDS, 1, random(4)) == noise(IDS, 1, random(4)) != noise(IDS, 1, random(5))
