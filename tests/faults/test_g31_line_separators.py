"""G31: characters that only look like line ends split lines; files of different counts were paired."""

import io

import pytest

from sublayer.data import read_lines, read_pairs
from sublayer.errors import DataError

ODD = "\u2028|\u0085|\v|\f|\x1c|\r|end"


def test_only_lf_and_crlf_end_a_line():
    assert len(ODD.splitlines()) == 7  # what goes wrong elsewhere
    assert list(read_lines(io.BytesIO(f"{ODD}\n{ODD}\r\n".encode()))) == [ODD, ODD]


def test_a_bare_carriage_return_at_the_end_of_the_file_is_text():
    assert list(read_lines(io.BytesIO(b"a\rb\r\r\nc\r"))) == ["a\rb\r", "c\r"]


def test_odd_characters_stay_in_both_columns(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(f"{ODD}\tx{ODD}\n{ODD}\ty\n".encode())
    assert [(pair.source, pair.target) for pair in read_pairs(path)] == [(ODD, "x" + ODD), (ODD, "y")]


def test_different_counts_name_both_files_and_numbers(tmp_path):
    three, four = tmp_path / "a.en", tmp_path / "a.de"
    three.write_bytes(b"1\n2\n3\n")
    four.write_bytes(b"1\n2\n3\n4\n")
    for skip_bad in (False, True):
        with pytest.raises(DataError) as error:
            read_pairs((three, four), skip_bad=skip_bad)
        assert f"{three} has 3 lines and {four} has 4." in str(error.value)


@pytest.mark.parametrize(("line", "found"), [("alone", "1 column"), ("a\tb\tc", "3 columns")])
def test_a_wrong_number_of_tabs_names_the_line(tmp_path, line, found):
    path = tmp_path / "a.tsv"
    path.write_bytes(f"x\ty\n{line}\n".encode())
    with pytest.raises(DataError, match=rf"a\.tsv: 1 of 2 lines .*\n  - line 2: {found}, expected 2"):
        read_pairs(path)
