import pytest

from sublayer.data.rows import Row, read_rows
from sublayer.errors import ConfigError, DataError


@pytest.fixture
def file(tmp_path):
    def file(content):
        path = tmp_path / "x.tsv"
        path.write_text(content, encoding="utf-8", newline="")
        return path

    return file


def test_rows_keep_their_lines_and_empty_ones_are_counted(file):
    found = read_rows(file("a b\tX\n\n\tY\nc\t \nd\tZ\r\n"), (2, 3))
    assert found.items == [Row(("a b", "X"), 1), Row(("d", "Z"), 5)]
    assert found.skipped == [(2, "empty column 1"), (3, "empty column 1"), (4, "empty column 2")]
    assert found.summary() == f"{found.name}: 2 texts, 3 left out"


def test_the_first_line_decides_how_many_columns_there_are(file):
    found = read_rows(file("\na\tb\tX\nc\td\tY\n"), (2, 3))
    assert [row.cells for row in found] == [("a", "b", "X"), ("c", "d", "Y")]
    with pytest.raises(DataError) as error:
        read_rows(file("a\tb\tX\nc\tY\nd\n"), (2, 3))
    assert "2 of 3 lines cannot be read. Mend them, or leave them out (skip_bad)." in str(error.value)
    assert "line 2: 2 columns, expected 3 (tab-separated)" in str(error.value)
    assert "line 3: 1 column, expected 3 (tab-separated)" in str(error.value)
    with pytest.raises(DataError, match=r"line 1: 1 column, expected 2 or 3 \(tab-separated\)"):
        read_rows(file("a\n"), (2, 3))


def test_bad_lines_may_be_left_out(file):
    found = read_rows(file("a\tX\nb\nc\tY\n"), (2, 3), skip_bad=True)
    assert [row.line for row in found] == [1, 3]
    assert found.skipped == [(2, "1 column, expected 2 (tab-separated)")]


def test_named_columns_of_a_wider_file(file):
    path = file("1\tX\ta\n2\tY\tb\tmore\n")
    assert [row.cells for row in read_rows(path, (2, 3), columns=[3, 2])] == [("a", "X"), ("b", "Y")]
    with pytest.raises(DataError, match="line 1: 3 columns, expected at least 4"):
        read_rows(path, (2, 3), columns=[4, 2])
    for columns in ([0, 1], [1]):
        with pytest.raises(ConfigError, match="name 2 or 3 columns, counted from 1"):
            read_rows(path, (2, 3), columns=columns)


def test_the_last_cells_may_be_allowed_to_be_empty(file):
    assert [row.cells for row in read_rows(file("a\t\nb\tX\n"), (2, 3), blank=1)] == [("a", ""), ("b", "X")]


def test_a_file_with_nothing_in_it_is_refused(file):
    with pytest.raises(DataError, match="no text is left of 2 lines"):
        read_rows(file("\n\n"), (2, 3))
