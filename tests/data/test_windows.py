import pytest

from sublayer.data.windows import Windows


def read(windows, starts):
    return [row.tolist() for row in windows.make(starts)]


def test_an_epoch_reads_windows_that_lie_end_to_end():
    windows = Windows(range(100), 10, 3)
    for number in range(4):
        batches = windows.epoch(number)
        starts = sorted(start for batch in batches for start in batch)
        assert 0 <= starts[0] < 10 and [b - a for a, b in zip(starts, starts[1:], strict=False)] == [10] * (
            len(starts) - 1
        )
        assert starts[-1] + 10 <= 99 < starts[-1] + 20 and all(len(batch) == 3 for batch in batches[:-1])
        for batch in batches:
            assert read(windows, batch) == [list(range(start, start + 11)) for start in batch]


def test_epochs_differ_and_are_a_function_of_the_seed():
    def of(seed):
        return [Windows(range(100), 10, 3, seed=seed).epoch(n) for n in range(3)]

    assert of(1) == of(1) != of(2)
    assert of(1)[0] != of(1)[1]


@pytest.mark.parametrize("size", [2, 5, 10, 11, 12, 31, 100])
def test_in_order_every_token_but_the_first_is_predicted_once(size):
    batches = Windows(range(size), 10, 3).in_order()
    predicted = [token for batch in batches for row in batch.tolist() for token in row[1:]]
    assert predicted == list(range(1, size))
    assert all(len(batch) <= 3 and batch.size(1) <= 11 for batch in batches)


def test_a_text_shorter_than_a_window_is_one():
    windows = Windows([5, 6, 7], 10, 3)
    assert [read(windows, batch) for n in range(3) for batch in windows.epoch(n)] == [[[5, 6, 7]]] * 3
