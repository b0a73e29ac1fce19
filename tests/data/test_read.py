import gzip
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sublayer.data import read_lines, read_pairs
from sublayer.errors import ConfigError, DataError

TEXT = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])).filter(
    lambda text: text.strip() and not text.endswith("\r") and not text.startswith("\ufeff")
)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def texts(pairs):
    return [(pair.source, pair.target) for pair in pairs]


TSV = "cat\tK AE T\n dog \tD AO G\n"
JSONL = '{"source": "cat", "target": "K AE T"}\n{"target": "D AO G", "source": " dog ", "more": 1}\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.tsv", TSV), ("a.txt", TSV), ("a.data", TSV), ("a", TSV), ("a.jsonl", JSONL), ("a.JSONL", JSONL)],
)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_every_format_gives_the_same_pairs(write, name, content, packed):
    path = write(name + packed, content)
    for given_path in (path, str(path)):
        pairs = read_pairs(given_path)
        assert texts(pairs) == [("cat", "K AE T"), (" dog ", "D AO G")]
        assert [pair.line for pair in pairs] == [1, 2]
        assert pairs.name == str(path)
        assert pairs.skipped == []


def test_parallel_files_are_paired_by_line(write):
    source, target = write("a.en", "cat\n\na\tb\n"), write("a.de.gz", "Katze\nx\ny\n")
    pairs = read_pairs((source, target))
    assert texts(pairs) == [("cat", "Katze"), ("a\tb", "y")]
    assert pairs.skipped == [(2, "empty source")]
    assert pairs.name == f"{source} + {target}"


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1))
def test_what_is_written_line_by_line_is_read_unchanged(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("pairs") / "a.tsv"
    path.write_bytes("".join(f"{source}\t{target}\n" for source, target in pairs).encode())
    assert texts(read_pairs(path)) == pairs


def test_columns_are_counted_from_one_and_lines_may_have_more(write):
    path = write("a.tsv", "1\tcat\tanimal\tKatze\n2\tdog\tanimal\tHund\textra\n")
    assert texts(read_pairs(path, columns=(4, 2))) == [("Katze", "cat"), ("Hund", "dog")]
    with pytest.raises(DataError, match=r"line 1: 4 columns, expected at least 5 \(tab-separated\)"):
        read_pairs(path, columns=(1, 5))
    with pytest.raises(ConfigError, match=r"columns=\(0, 1\): columns are counted from 1\. Write \(1, 2\)"):
        read_pairs(path, columns=(0, 1))


def test_fields_are_chosen_by_name(write):
    path = write("a.jsonl", '{"en": "cat", "de": "Katze"}\n')
    assert texts(read_pairs(path, fields=("de", "en"))) == [("Katze", "cat")]


BAD_TSV = b"a\tb\nalone\nok\tfine\nx\ty\tz\n\xff\t1\nq\tr\xc3\n"
BAD_TSV_REASONS = [
    (2, "1 column, expected 2 (tab-separated)."),
    (4, "3 columns, expected 2 (tab-separated). Name two of them (columns) to read a file of more."),
    (5, "not UTF-8 (0xff is byte 1 of the line)"),
    (6, "not UTF-8 (0xc3 is byte 4 of the line)"),
]
BAD_JSONL = (
    '{"source": "a", "target": "b"}\n{"source": "a"}\nnot json\n["a", "b"]\n{"source": 3, "target": null}\n'
    '{"source": "\\ud800", "target": "b"}\n{}\n'
)
BAD_JSONL_REASONS = [
    (2, "no field 'target', only 'source'"),
    (3, "not JSON: Expecting value: line 1 column 1 (char 0)"),
    (4, "a JSON list, expected an object with 'source', 'target'"),
    (5, "field 'source' holds 3, expected a string; field 'target' holds null, expected a string"),
    (6, "field 'source' holds half of a surrogate pair (\\ud800 to \\udfff), which is no character"),
    (7, "no field 'source', only none; no field 'target', only none"),
]


@pytest.mark.parametrize(
    ("name", "content", "reasons", "kept"),
    [("a.tsv", BAD_TSV, BAD_TSV_REASONS, [1, 3]), ("a.jsonl", BAD_JSONL, BAD_JSONL_REASONS, [1])],
)
def test_all_bad_lines_are_told_at_once_or_left_out_and_listed(write, name, content, reasons, kept):
    path = write(name, content)
    with pytest.raises(DataError) as error:
        read_pairs(path)
    title, *lines = str(error.value).split("\n")
    total = len(reasons) + len(kept)
    assert title == (
        f"{path}: {len(reasons)} of {total} lines cannot be read. Mend them, or leave them out (skip_bad)."
    )
    assert lines == [f"  - line {number}: {reason}" for number, reason in reasons]

    pairs = read_pairs(path, skip_bad=True)
    assert pairs.skipped == reasons
    assert [pair.line for pair in pairs] == kept


def test_a_bad_line_of_parallel_files_names_its_file(write):
    source, target = write("a.en", b"\xff\nb\n"), write("a.de", b"\xfe\nd\n")
    with pytest.raises(DataError) as error:
        read_pairs((source, target))
    assert f"0xff is byte 1 of the line) in {source}; not UTF-8 (0xfe is byte 1 of the line) in {target}" in str(
        error.value
    )
    assert texts(read_pairs((source, target), skip_bad=True)) == [("b", "d")]


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl"])
def test_blank_lines_are_no_errors(write, name):
    line = {"a.tsv": "a\tb", "a.jsonl": json.dumps({"source": "a", "target": "b"})}[name]
    pairs = read_pairs(write(name, f"{line}\n\n{line}\n   \n"))
    assert [pair.line for pair in pairs] == [1, 3]
    assert pairs.skipped == [(2, "empty source and target"), (4, "empty source and target")]


def test_a_file_without_a_pair_is_an_error_that_says_why(write):
    with pytest.raises(DataError, match=r"a\.tsv: no pair is left of 0 lines\. Needed: one with a source and"):
        read_pairs(write("a.tsv", ""))
    with pytest.raises(DataError, match=r"no pair is left of 2 lines(?s:.*)line 1: empty target\n.*line 2: 1 col"):
        read_pairs(write("b.tsv", "a\t \nb\n"), skip_bad=True)


def test_files_that_cannot_be_opened_or_unpacked_are_named(tmp_path, write):
    with pytest.raises(DataError, match=r"none\.tsv cannot be read: No such file or directory"):
        read_pairs(tmp_path / "none.tsv")
    plain, cut = tmp_path / "plain.tsv.gz", tmp_path / "cut.tsv.gz"
    plain.write_bytes(b"a\tb\n")
    cut.write_bytes(gzip.compress(b"a\tb\n" * 100)[:-12])
    with pytest.raises(DataError, match=r"plain\.tsv\.gz cannot be read: Not a gzipped file"):
        read_pairs(plain)
    with pytest.raises(DataError, match=r"cut\.tsv\.gz cannot be read: Compressed file ended"):
        list(read_lines(cut))


@settings(deadline=None)
@given(st.lists(TEXT | st.just("") | st.just(" ")), st.sampled_from(["\n", "\r\n"]))
def test_read_lines_gives_as_many_lines_as_there_are(lines, end):
    assert list(read_lines(io.BytesIO("".join(line + end for line in lines).encode()))) == lines


def test_read_lines_streams(write):
    def slow():
        yield b"first\n"
        raise AssertionError("the second line was asked for before the first was used")

    assert next(read_lines(slow())) == "first"
    assert list(read_lines(write("a.txt.gz", "x\n\ny"))) == ["x", "", "y"]


def test_read_lines_names_file_and_line_of_bad_bytes(write):
    path = write("a.txt", b"fine\nno\xff\n")
    with pytest.raises(DataError) as error:
        list(read_lines(path))
    assert str(error.value) == f"{path}, line 2: not UTF-8 (0xff is byte 3 of the line)"
    with pytest.raises(DataError, match="<stream>, line 1: not UTF-8"):
        list(read_lines(io.BytesIO(b"\x80")))
