"""G30: empty lines vanished, so outputs were shifted; one side of a pair was dropped without the other."""

import io

from sublayer.data import read_lines, read_pairs

SIX = ["nine char", "", "a", "  ", "x" * 30, ""]


def test_six_lines_stay_six_lines_in_order():
    data = "".join(line + "\n" for line in SIX).encode()
    assert list(read_lines(io.BytesIO(data))) == SIX


def test_an_empty_file_has_no_lines():
    assert list(read_lines(io.BytesIO(b""))) == []


def test_a_pair_with_an_empty_side_goes_as_a_whole_and_is_counted(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes("".join(f"{line}\t{i}\n" for i, line in enumerate(SIX, 1)).encode() + b"last\t\n")
    pairs = read_pairs(path)
    assert [(pair.source, pair.target) for pair in pairs] == [(SIX[i - 1], str(i)) for i in (1, 3, 5)]
    assert pairs.skipped == [
        (2, "empty source"),
        (4, "empty source"),
        (6, "empty source"),
        (7, "empty target"),
    ]
    assert pairs.summary() == f"{path}: 3 pairs, 4 left out"
