"""G40: vocabulary files of a run differed between runs."""

import os
import subprocess
import sys

import pytest
from tests.runs import words

CODE = """
import sys
from pathlib import Path
from tests.runs import Heard, tiny_recipe
from sublayer.tasks.fit import fit
folder = Path(sys.argv[1])
text = {"source": {"kind": "unigram", "vocab_size": 300}, "target": {"kind": "wordpiece", "vocab_size": 300}}
fit(tiny_recipe(folder / "train.tsv", text=text, steps=2), folder / sys.argv[2], Heard())
"""


@pytest.fixture
def folder(tmp_path):
    tied = "".join(f"{a} {b} {a}{b}\t{b}{a}\n" for a, b in zip(words()[:40], words()[40:80], strict=True))
    (tmp_path / "train.tsv").write_text(tied, encoding="utf-8")
    return tmp_path


def test_every_file_is_the_same_for_every_hash_seed(folder):
    for seed in ("0", "1"):
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", CODE, str(folder), seed], env=env, check=True)
    timed = {"state.json", "SHA256SUMS"}  # seconds, and a sum over them
    files = [p.relative_to(folder / "0") for p in (folder / "0").rglob("*") if p.is_file() and p.name not in timed]
    assert {"tokenizer.json", "target_tokenizer.json"} < {file.name for file in files}
    for file in files:
        assert (folder / "0" / file).read_bytes() == (folder / "1" / file).read_bytes(), file
