"""`sublayer lab`: list, run, report."""

import pytest
from typer.testing import CliRunner

from sublayer.cli.main import app
from sublayer.errors import ConfigError


def call(*args):
    return CliRunner().invoke(app, ["lab", *map(str, args)])


def test_every_claim_is_listed():
    listed = call("list").stdout
    assert "only-attention" in listed and "A, part 2" in listed


def test_a_claim_is_run_judged_and_reported(tmp_path):
    out, docs = tmp_path / "out", tmp_path / "docs"
    done = call("run", "ffn-is-position-wise", "--seeds", 3, "--out", out)
    assert done.stdout.splitlines()[0] == "ffn-is-position-wise: holds"
    assert "met      largest change at the other tokens: 0, predicted ≤ 0" in done.stdout
    assert "ffn-is-position-wise, seed 2" in done.stderr
    assert call("report", "--out", out, "--to", docs).stdout.endswith("1 claims\n")
    assert (docs / "zh" / "lab.md").exists() and (docs / "lab" / "ffn-is-position-wise.svg").exists()


def test_a_report_of_nothing_says_what_to_do_first(tmp_path):
    with pytest.raises(ConfigError, match="nothing has been measured .* sublayer lab run first"):
        raise call("report", "--out", tmp_path, "--to", tmp_path).exception
