"""Exit codes, streams, and what happens when the reader of the output has gone."""

import os
import subprocess
import sys

import pytest
from tests.runs import command, reverse_run

SUBLAYER = [sys.executable, "-c", "from sublayer.cli.main import run; run()"]


def test_help_and_mistakes_of_spelling():
    assert command("--help").code == 0
    said = command("evalute", "x", "y")
    assert said.code == 2 and said.out == "" and "No such command 'evalute'" in said.err
    assert command("predict").code == 2


def test_a_fault_of_ours_is_a_traceback(monkeypatch):
    def broken(*args, **options):
        raise ZeroDivisionError

    monkeypatch.setattr("sublayer.tasks.bundle.load", broken)
    with pytest.raises(ZeroDivisionError):
        command("predict", reverse_run())


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    said = command("attend", reverse_run(), "ab", "--out", tmp_path / "nowhere" / "a.html")
    assert said.code == 2 and said.err.startswith("sublayer: No such file or directory: ") and "nowhere" in said.err


@pytest.mark.skipif(os.name == "nt", reason="pipes end differently there")
@pytest.mark.parametrize("lines", [2, 30_000])
def test_a_reader_that_has_gone_is_no_error(lines):
    """One that closes before a short output is flushed, and one that closes in the middle of a long one."""
    args = [*SUBLAYER, "predict", str(reverse_run())]
    streams = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(args, env=env, **streams) as process:
        process.stdout.close()
        try:
            process.stdin.write(b"ab\n" * lines)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.stderr.read() == b""
        assert process.wait() == 0
