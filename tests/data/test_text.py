import pytest

from sublayer.data.text import Line, joined, read_plain
from sublayer.errors import DataError


def test_files_are_read_one_after_the_other_with_their_blank_lines(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\n\ntwo")
    (tmp_path / "b.txt").write_bytes("drei\u2028vier\n".encode())
    found = read_plain([tmp_path / "a.txt", tmp_path / "b.txt"])
    assert found.items[:3] == [Line("one", 0, 1), Line("", 0, 2), Line("two", 0, 3)]
    assert joined(found) == ["one\n\ntwo\n", "drei\u2028vier\n"]
    assert found.summary() == f"{tmp_path / 'a.txt'} + {tmp_path / 'b.txt'}: 4 lines, 0 left out"


def test_nothing_but_blanks_is_no_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\n \n")
    with pytest.raises(DataError, match="a.txt: there is no text in it."):
        read_plain([tmp_path / "a.txt"])
