import io
import json
import re

import pytest
from tests.runs import command, reverse_run, reverse_task

from sublayer.tasks.search import Search


@pytest.fixture(scope="module")
def run():
    return reverse_run()


def test_plain_scores_nbest_and_json_tell_the_same(run):
    search = Search(beam=3, nbest=2)
    expected = [found for found in reverse_task().for_inference().predict(["ab", "cde"], search=search)]
    beams = ("--beam", 3, "--nbest", 2)
    stdin = b"ab\ncde\n"
    lines = command("predict", run, *beams, stdin=stdin).out.splitlines()
    assert lines == [f"{n}\t{a.score:.6f}\t{a.text}" for n, found in enumerate(expected, 1) for a in found]
    records = [json.loads(line) for line in command("predict", run, *beams, "--json", stdin=stdin).out.splitlines()]
    for record, found in zip(records, expected, strict=True):
        assert [a["text"] for a in record["answers"]] == [a.text for a in found]
        assert [a["tokens"] for a in record["answers"]] == [list(a.tokens) for a in found]
        assert record["answers"][0]["token_logps"] == list(found[0].token_logps)
    assert command("predict", run, "--beam", 3, stdin=stdin).out == "ba\nedc\n"
    scored = command("predict", run, "--beam", 3, "--scores", stdin=stdin).out.splitlines()
    assert scored == [f"{found[0].score:.6f}\t{found[0].text}" for found in expected]


def test_more_answers_than_the_beam_is_wide_are_refused_with_the_cure(run):
    said = command("predict", run, "--nbest", 3, stdin=b"ab\n")
    problem = "search: nbest=3 is more than beam=1 can give: widen the beam"
    assert said == (2, "", f"sublayer: the search:\n  - {problem}\n")
    for option in ("--beam", "--nbest"):
        assert command("predict", run, option, 0).code == 2


def test_a_file_is_standard_input(run, tmp_path):
    (tmp_path / "in.txt").write_bytes(b"ab\nc\n")
    assert (
        command("predict", run, tmp_path / "in.txt") == command("predict", run, stdin=b"ab\nc\n") == (0, "ba\nc\n", "")
    )


def test_what_cannot_be_read_is_told(run, tmp_path):
    (tmp_path / "latin.txt").write_bytes("ab\ngröße\n".encode("latin-1"))
    said = command("predict", run, tmp_path / "latin.txt")
    assert said.code == 2 and "latin.txt, line 2: not UTF-8 (0xf6 is byte 3 of the line)" in said.err
    said = command("predict", run, tmp_path)
    assert said.code == 2 and "cannot be read: Is a directory" in said.err
    said = command("predict", tmp_path / "nowhere")
    assert said.code == 2 and "nowhere is no run folder: there is no such folder." in said.err
    said = command("predict", tmp_path)
    assert said.code == 2 and "task.json cannot be read" in said.err


def test_at_a_terminal_each_line_is_answered_as_it_comes(run, monkeypatch):
    class Typed(io.BytesIO):
        def isatty(self):
            return True

    monkeypatch.setattr("tests.runs.io.BytesIO", Typed)
    assert command("predict", run, stdin=b"ab\ncd\n").out == "ba\ndc\n"


def test_workers_share_a_file(run, tmp_path):
    file = tmp_path / "in.txt"
    file.write_bytes(b"\nab\ncde\n\nda\n")
    options = ("predict", run, file, "--beam", 3, "--nbest", 2, "--json")
    alone, shared = command(*options), command(*options, "--workers", 2)
    assert shared == alone and shared.code == 0 and shared.out.count("\n") == 5


def test_workers_need_a_file(run):
    said = command("predict", run, "--workers", 2, stdin=b"ab\n")
    assert said == (2, "", "sublayer: --workers go by the lines of a file: name one, not standard input.\n")


def test_int8_tells_what_it_costs(run, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_bytes(b"ab\n\ncde\n")
    said = command("predict", run, tmp_path / "in.txt", "--int8")
    assert (said.code, said.out) == (0, "ba\n\nedc\n") and said.err.startswith("int8: none of ")
    monkeypatch.setattr("sublayer.models.inference.LARGE", 0)
    said = command("predict", run, "--int8", stdin=b"ab\n\ncde\n")
    assert (said.code, said.out) == (0, "ba\n\nedc\n")
    assert re.fullmatch(
        r"int8: (\d+) of \1 linear maps; on 2 lines the log-probability of a token changes by [+-]0\.\d{4}, "
        r"2 of 2 greedy answers stay the same\n",
        said.err,
    )
    said = command("predict", run, "--int8", "--engine", "auto", stdin=b"ab\n")
    assert said.code == 2 and "--int8 does not go together with --engine: leave one or the other out" in said.err
