"""G32, whole runs: line ends, marks and the platform's encoding change nothing that is learned or said."""

import os
import subprocess
import sys

from tests.runs import Heard, tiny_recipe

from sublayer.tasks.fit import fit

LINES = ["Straße\tstreet", "你好\thello", "é\te", "z\u2028\tz"]
LF = "".join(f"{line}\n" for line in LINES).encode()
SAME = {"lf": LF, "crlf": LF.replace(b"\n", b"\r\n"), "mark": b"\xef\xbb\xbf" + LF}
PLAIN = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
RECIPE = """
text: {source: {kind: char}, target: {kind: char, separator: ü}}
model: {d_model: 16, num_heads: 2, encoder_layers: 1, decoder_layers: 1, d_ff: 32, dropout: 0}
train: {steps: 80, learning_rate: 0.02, warmup: 0, label_smoothing: 0}
"""
SUBLAYER = [sys.executable, "-c", "from sublayer.cli.main import run; run()"]


def test_lf_crlf_and_a_mark_give_the_same_run(tmp_path):
    for kind, content in SAME.items():
        (tmp_path / "train.tsv").write_bytes(content)
        fit(tiny_recipe(tmp_path / "train.tsv"), tmp_path / kind, Heard())
    files = [
        p.relative_to(tmp_path / "lf") for p in (tmp_path / "lf").rglob("*") if p.suffix in (".json", ".safetensors")
    ]
    assert len(files) >= 6
    for file in files:
        if file.name != "state.json":  # it holds the seconds that passed
            assert len({(tmp_path / kind / file).read_bytes() for kind in SAME}) == 1, file


def sublayer(*args, stdin=b"", env=PLAIN):
    done = subprocess.run([*SUBLAYER, *map(str, args)], input=stdin, env=os.environ | env, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done


def test_in_the_c_locale_utf8_is_read_and_written(tmp_path):
    columns = (line.split("\t") for line in LINES[:3])
    (tmp_path / "train.tsv").write_bytes("".join(f"{b}\t{a}\n" for a, b in columns).encode())
    (tmp_path / "größe.yaml").write_text(RECIPE, encoding="utf-8")
    sublayer("train", tmp_path / "größe.yaml", "--train", tmp_path / "train.tsv", "--out", tmp_path / "run")
    assert sublayer("predict", tmp_path / "run", stdin=b"street\nhello\n").stdout == "Straße\n你好\n".encode()
    assert "separator: ü" in (tmp_path / "run" / "recipe.yaml").read_bytes().decode("utf-8")
    (tmp_path / "pair.tsv").write_bytes("hello\t你好\n".encode())
    assert "你" in sublayer("score", tmp_path / "run", tmp_path / "pair.tsv", "--tokens").stdout.decode("utf-8")


def test_output_ends_lines_with_lf(tmp_path):
    (tmp_path / "train.tsv").write_bytes(SAME["crlf"])
    fit(tiny_recipe(tmp_path / "train.tsv", steps=1), tmp_path / "run", Heard())
    written = [p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.suffix in (".yaml", ".jsonl", ".json")]
    assert not any(b"\r" in content for content in written)
