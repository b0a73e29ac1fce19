"""G32: byte-order mark, line ends and the platform's encoding, in vocabulary files."""

import hashlib
import os
import subprocess
import sys

import pytest

from sublayer.text import KINDS, Tokenizer, train_tokenizer

AWKWARD = ["\r", "\u2028", "\ufeff", "\u200b", "\x85", "\x00", '"', "\\", "a b", "é", "\U0001f98a", "\ufffd"]


def test_awkward_tokens_survive_the_file(tmp_path):
    trained = train_tokenizer("split", ["|".join(AWKWARD)], separator="|", normalization="none")
    trained.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert [loaded.piece(i) for i in loaded.encode("|".join(AWKWARD))] == AWKWARD
    assert len(loaded) == 4 + len(AWKWARD)
    assert b"\r" not in (tmp_path / "tokenizer.json").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_leading_byte_order_mark_is_dropped(kind, tmp_path):
    trained = train_tokenizer(kind, AWKWARD)
    (tmp_path / "marked.json").write_bytes(b"\xef\xbb\xbf" + trained.to_json().encode("utf-8"))
    assert Tokenizer.load(tmp_path / "marked.json").to_json() == trained.to_json()


def test_the_file_is_utf8_in_every_locale(tmp_path):
    script = "import sys; from sublayer.text import *; train_tokenizer('char', ['é\u4f60']).save(sys.argv[1])"
    digests = set()
    for name, locale in {
        "c": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        "utf8": {"PYTHONUTF8": "1"},
    }.items():
        code = script.encode("unicode_escape").decode("ascii")
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], env=os.environ | locale, check=True)
        digests.add(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(digests) == 1
    assert Tokenizer.load(tmp_path / "c").piece(5) == "\u4f60"
