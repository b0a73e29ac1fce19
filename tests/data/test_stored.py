import numpy as np
import pytest

from sublayer.data.stored import CHUNK, StoredIds, store
from sublayer.errors import DataError


def examples(count):
    return [([i % 7, 3], [5] * (i % 4)) for i in range(count)]


@pytest.mark.parametrize("count", [1, 5, CHUNK, 2 * CHUNK + 3])
@pytest.mark.parametrize("vocab", [100, 70_000])
def test_what_is_stored_is_read(tmp_path, count, vocab):
    given = [*examples(count - 1), ([vocab - 1], [])]
    found = store(iter(given), tmp_path / "new" / "x.arrow", vocab)
    assert len(found) == count and list(found) == given
    assert found[-1] == given[-1] and found[count // 2 :][:3] == given[count // 2 :][:3]
    assert found.lengths().tolist() == [[len(source), len(target)] for source, target in given]
    assert found.lengths().dtype == np.int32
    with pytest.raises(IndexError):
        found[count]


def test_a_file_is_there_when_it_is_whole(tmp_path):
    def broken():
        yield from examples(10)
        raise DataError("line 11: too long")

    with pytest.raises(DataError, match="line 11"):
        store(broken(), tmp_path / "x.arrow", 10)
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_not_whole_is_named(tmp_path):
    path = tmp_path / "x.arrow"
    store(examples(40), path, 10)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="x.arrow cannot be read: .* Delete it: it is made again from the texts."):
        StoredIds(path)


def test_without_examples_there_is_nothing_to_count(tmp_path):
    found = store([], tmp_path / "x.arrow", 10)
    assert len(found) == 0 and found.lengths().shape == (0, 2)
