"""G32: a byte-order mark, a CR or the platform's encoding got into the text."""

import io
import os
import subprocess
import sys

import pytest

from sublayer.data import read_lines, read_pairs
from sublayer.errors import DataError

LINES = ["Straße\tstreet", "你好\thello", "é\te", "z\tz"]
LF = "".join(line + "\n" for line in LINES).encode()
SAME = {"lf": LF, "crlf": LF.replace(b"\n", b"\r\n"), "mark": b"\xef\xbb\xbf" + LF, "no last end": LF[:-1]}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_corpus_gives_the_same_pairs(tmp_path, kind):
    path = tmp_path / "a.tsv"
    path.write_bytes(SAME[kind])
    assert [f"{pair.source}\t{pair.target}" for pair in read_pairs(path)] == LINES
    assert list(read_lines(io.BytesIO(SAME[kind]))) == LINES


def test_a_mark_is_dropped_once_and_only_at_the_start(tmp_path):
    mark = "\ufeff"
    assert list(read_lines(io.BytesIO(f"{mark}{mark}a\n{mark}b\n".encode()))) == [mark + "a", mark + "b"]


def test_the_locale_does_not_matter(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(LF)
    code = (
        "import locale, sys; from pathlib import Path; from sublayer.data import read_pairs, read_lines;"
        "pairs = read_pairs(sys.argv[1]); lines = list(read_lines(Path(sys.argv[1])));"
        "print(locale.getpreferredencoding(False), ascii([p.source for p in pairs]), ascii(lines))"
    )
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    told = subprocess.run(
        [sys.executable, "-c", code, str(path)], env=os.environ | plain, capture_output=True, check=True
    )
    encoding, rest = told.stdout.decode("ascii").strip().split(" ", 1)
    assert encoding.upper() not in ("UTF-8", "UTF8")
    assert rest == f"{ascii([line.split(chr(9))[0] for line in LINES])} {ascii(LINES)}"


def test_other_encodings_are_an_error_with_file_and_line(tmp_path):
    path = tmp_path / "latin.tsv"
    path.write_bytes("a\tb\nStraße\tstreet\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.tsv: (?s:.*)line 2: not UTF-8 \(0xdf is byte 5 of the line\)"):
        read_pairs(path)
