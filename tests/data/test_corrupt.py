import numpy as np
import pytest

from sublayer.data.corrupt import Masking, SpanCorruption, chosen, parts

IDS = list(range(10, 110))


def draw(seed=0):
    return np.random.default_rng(seed)


def test_so_many_are_chosen_and_one_at_least():
    assert len(chosen(100, 0.15, draw())) == 15 and len(set(chosen(100, 0.15, draw()))) == 15
    assert chosen(1, 0.15, draw()) == [0] and chosen(0, 0.15, draw()) == []
    assert chosen(40, 0.5, draw()) == sorted(chosen(40, 0.5, draw()))


def test_eighty_ten_ten():
    masking = Masking(mask=3, others=range(5, 1000))
    kept = masked = other = 0
    seen = set()
    for seed in range(300):
        corrupted, places = masking(IDS, draw(seed))
        assert [x for i, x in enumerate(corrupted) if i not in places] == [
            x for i, x in enumerate(IDS) if i not in places
        ]
        for i in places:
            kept, masked = kept + (corrupted[i] == IDS[i]), masked + (corrupted[i] == 3)
            if corrupted[i] not in (3, IDS[i]):
                other, seen = other + 1, seen | {corrupted[i]}
    assert [round(n / 4500, 1) for n in (masked, other, kept)] == [0.8, 0.1, 0.1]
    assert min(seen) < 30 and max(seen) > 970 and 3 not in seen and 4 not in seen


def test_the_same_seed_the_same_blanks_and_other_ones_with_another():
    masking = Masking(3, range(5, 50))
    assert masking(IDS, draw(1)) == masking(IDS, draw(1)) != masking(IDS, draw(2))


@pytest.mark.parametrize(
    ("n", "rate", "mean"), [(100, 0.15, 3), (2, 0.15, 3), (7, 0.5, 1), (30, 0.9, 2), (1000, 0.15, 3)]
)
def test_spans_put_back_are_the_text(n, rate, mean):
    sentinels, ids = list(range(5000, 4900, -1)), list(range(n))
    for seed in range(10):
        source, target = SpanCorruption(sentinels, rate, mean)(ids, draw(seed))
        used = [x for x in source if x in sentinels]
        assert used == sentinels[: len(used)] and target[-1] == sentinels[len(used)]
        spans, at = {}, None
        for x in target:
            if x in sentinels:
                at = spans[x] = []
            else:
                at.append(x)
        assert all(spans[x] for x in used)
        assert [y for x in source for y in spans.get(x, [x])] == ids
        assert sum(map(len, spans.values())) == min(max(round(n * rate), 1), n - 1)


def test_a_worked_span():
    # 10 tokens, 30 % of them in spans of 3: one span, at any of eight places.
    ids, starts = list(range(10)), set()
    for seed in range(60):
        source, target = SpanCorruption([99, 98], 0.3, 3)(ids, draw(seed))
        at = source.index(99)
        assert source == [*ids[:at], 99, *ids[at + 3 :]] and target == [99, *ids[at : at + 3], 98]
        starts.add(at)
    assert starts == set(range(8))
    assert SpanCorruption([99, 98])([5], draw()) == ([5], [99])


def test_parts_are_of_one_or_more():
    for seed in range(20):
        found = parts(10, 4, draw(seed))
        assert sum(found) == 10 and len(found) == 4 and min(found) > 0
