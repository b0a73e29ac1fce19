"""Each verb once, as a program of its own, on a run that the first of them makes."""

import json
import os
import subprocess
import sys

import pytest
from tests.runs import words, write_pairs

SUBLAYER = [sys.executable, "-c", "from sublayer.cli.main import run; run()"]
SETTINGS = {
    "train.steps": 4,
    "train.warmup": 0,
    "model.d_model": 16,
    "model.num_heads": 2,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
}


def sublayer(folder, *args, stdin=b"", code=0):
    done = subprocess.run([*SUBLAYER, *args], cwd=folder, input=stdin, capture_output=True, env=os.environ)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with a.tsv, b.tsv and what `sublayer train` makes of them in runs/mine."""
    folder = tmp_path_factory.mktemp("verbs")
    write_pairs(folder / "a.tsv", words()[:50])
    write_pairs(folder / "b.tsv", words()[50:60])
    options = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    files = ["--train", "a.tsv", "--valid", "b.tsv", "--out", "runs/mine"]
    return folder, sublayer(folder, "train", "--task", "translate", *files, *options)


def test_train(made):
    folder, (out, err) = made
    assert out == ""
    assert "text.source: char" in err and "validation at step 4: loss" in err and "(best)" in err
    assert err.rstrip().endswith("Next: sublayer predict runs/mine FILE   sublayer evaluate runs/mine FILE")
    assert (folder / "runs" / "mine" / "recipe.yaml").exists()


def test_predict(made):
    out, err = sublayer(made[0], "predict", "runs/mine", stdin=b"ab\n\nba\n")
    assert out.count("\n") == 3 and err == ""


def test_evaluate(made):
    out, err = sublayer(made[0], "evaluate", "runs/mine", "b.tsv", "--json", "--bootstrap", "10")
    scores = json.loads(out)
    assert list(scores) == ["exact", "cer", "loss", "perplexity"]
    assert scores["cer"]["signature"] == "nrefs:1|ref:nearest|tok:char" and len(scores["cer"]["interval"]) == 2
    assert err == "b.tsv: 10 pairs, 0 left out\n"


def test_score(made):
    out, _ = sublayer(made[0], "score", "runs/mine", "b.tsv", "--tokens", "--json")
    first = json.loads(out.split("\n")[0])
    assert first["line"] == 1 and first["tokens"][-1] == "</s>"
    assert sum(first["token_logps"]) == pytest.approx(first["logp"], abs=1e-4)


def test_show(made):
    out, _ = sublayer(made[0], "show", "runs/mine", "--text", "abc")
    assert "encoder.layers.0.self_attn" in out and "parameters: " in out


def test_attend(made):
    out, err = sublayer(made[0], "attend", "runs/mine", "abc", "--target", "cba", "--out", "a.html")
    assert (out, err) == ("", "a.html\n")
    assert (made[0] / "a.html").stat().st_size > 1000


def test_validate(made):
    assert sublayer(made[0], "validate", "runs/mine/recipe.yaml") == ("", "runs/mine/recipe.yaml: fine\n")


def test_schema(made):
    out, _ = sublayer(made[0], "schema")
    assert set(json.loads(out)["properties"]) == {"task", "data", "text", "model", "train", "search"}


def test_every_verb_explains_itself(made):
    out, _ = sublayer(made[0], "--help")
    for verb in ("demo", "train", "evaluate", "predict", "score", "show", "attend", "serve", "validate", "schema"):
        assert f"│ {verb} " in out
