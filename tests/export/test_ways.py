import json

import pytest
import torch
from tests.runs import command, reverse_run

from sublayer.errors import ConfigError, ExportError
from sublayer.export import ways
from sublayer.export.compare import compare
from sublayer.tasks.searching import Native


def test_an_unknown_way_names_the_nearest():
    with pytest.raises(ConfigError, match="There is no way to 'ctranslate'. Did you mean 'ctranslate2'?"):
        ways.way("ctranslate")


def test_reasons_come_together(translator):
    task = translator(position="alibi", kernel="torch.nn:Module")
    with pytest.raises(ConfigError) as error:
        ways.check(task, "ctranslate2")
    assert str(error.value) == (
        "ctranslate2 cannot hold this model:\n"
        "  - kernel 'torch.nn:Module' is code of your own\n"
        "  - position 'alibi': its encoders have none"
    )


class Off(Native):
    """Changes one log-probability a little, or a token."""

    def __init__(self, *, token=False):
        self.token = token

    def find(self, task, ids, search):
        found = super().find(task, ids, search)
        first = found[0][0]
        logps = (first.token_logps[0] + 2e-4, *first.token_logps[1:])
        tokens = (first.tokens[0] + 1, *first.tokens[1:]) if self.token else first.tokens
        found[0][0] = type(first)(tokens, first.logp, first.score, logps, first.finished)
        return found


def test_the_comparison_sees_a_wrong_number_and_a_wrong_token(translator):
    task = translator()
    assert compare(task, Native()).difference == 0
    with pytest.raises(ExportError, match="50 of 50 greedy answers identical, log-probabilities within 2.0e-04"):
        compare(task, Off())
    with pytest.raises(ExportError, match="49 of 50 greedy answers identical"):
        compare(task, Off(token=True))


def test_a_failed_export_leaves_what_was_there(translator, tmp_path, monkeypatch):
    task, folder = translator(), tmp_path / "out"
    ways.export(task, "ctranslate2", folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr("sublayer.export.ways.compare", lambda *_: (_ for _ in ()).throw(ExportError("wrong")))
    with pytest.raises(ExportError):
        ways.export(task, "ctranslate2", folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_holds_something_else_is_kept(translator, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="letters is there already and holds no export. Choose another --out."):
        ways.export(translator(), "ctranslate2", tmp_path / "letters")
    assert (tmp_path / "letters" / "mine.txt").read_text() == "mine"


def test_on_the_command_line(tmp_path):
    run = reverse_run()
    assert command("export", run, "--to", "ctranslate2", "--check").out == "ctranslate2 can hold this model.\n"
    said = command("export", run, "--to", "ctranslate2", "--out", tmp_path / "out")
    assert said.code == 0
    assert said.out.startswith(f"{tmp_path / 'out'}: 50 of 50 greedy answers identical, log-probabilities within ")
    about = json.loads((tmp_path / "out" / "export.json").read_text())
    assert about["to"] == "ctranslate2" and about["compared"] in said.out
    said = command("export", run, "--to", "tflite")
    assert said == (
        2,
        "",
        "sublayer: There is no way to 'tflite'. Known: ctranslate2, onnx, torch.\n",
    )


def test_engines_answer_alike_and_follow_the_weights(tmp_path):
    run, stdin = reverse_run(), b"ab\n\ncde\n"
    native = command("predict", run, stdin=stdin)
    first = command("predict", run, "--engine", "auto", stdin=stdin)
    assert first.out == native.out
    assert first.err.startswith("engine: ctranslate2\n") and "50 of 50 greedy answers identical" in first.err
    again = command("predict", run, "--engine", "ctranslate2", stdin=stdin)
    assert again == (0, native.out, "")
    assert command("predict", run, "--engine", "auto", "--beam", 2, stdin=stdin).err == "engine: native\n"
    folder = run / "exports" / "ctranslate2"
    assert ways.current(folder, run / "model.safetensors")
    torch.save({}, tmp_path / "other.safetensors")
    assert not ways.current(folder, tmp_path / "other.safetensors")
