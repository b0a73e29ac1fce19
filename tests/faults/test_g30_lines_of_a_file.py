"""G30, on the command line: N lines in, N lines out, in order; an empty line gives an empty line."""

import json

import pytest
from tests.runs import command, reverse_run

SIX = ["abcdeabcd", "", "a", " \t ", "abcde" * 6, ""]
SIX_BYTES = "".join(f"{line}\n" for line in SIX).encode()


@pytest.fixture(scope="module")
def run():
    return reverse_run()


@pytest.mark.parametrize("options", [(), ("--beam", 3), ("--scores",)], ids=str)
def test_six_lines(run, options, tmp_path):
    (tmp_path / "six.txt").write_bytes(SIX_BYTES)
    said = command("predict", run, tmp_path / "six.txt", *options)
    assert said == command("predict", run, *options, stdin=SIX_BYTES)
    assert said.code == 0 and said.err == ""
    lines = said.out.split("\n")
    assert len(lines) == 7 and lines[6] == ""
    texts = [line.partition("\t")[2] if options == ("--scores",) else line for line in lines[:6]]
    assert [bool(text) for text in texts] == [True, False, True, False, True, False]
    assert texts[2] == "a"


def test_nothing_in_nothing_out(run, tmp_path):
    (tmp_path / "empty.txt").write_bytes(b"")
    assert command("predict", run, tmp_path / "empty.txt") == (0, "", "")
    assert command("predict", run) == (0, "", "")


def test_a_last_line_without_its_end_is_a_line(run):
    assert command("predict", run, stdin=b"ab\ncd").out == "ba\ndc\n"
    assert command("predict", run, stdin=b"\n").out == "\n"
    assert command("predict", run, stdin=b"\r\n\r\nab\r\n").out == "\n\nba\n"


def test_every_line_has_its_number_in_the_other_formats(run):
    said = command("predict", run, "--beam", 3, "--nbest", 2, stdin=SIX_BYTES)
    numbers = [line.split("\t")[0] for line in said.out.splitlines()]
    assert numbers == ["1", "1", "2", "3", "3", "4", "5", "5", "6"]
    records = [json.loads(line) for line in command("predict", run, "--json", stdin=SIX_BYTES).out.splitlines()]
    assert [record["line"] for record in records] == [1, 2, 3, 4, 5, 6]
    assert [record["answers"][0]["text"] for record in records][1:4] == ["", "a", ""]


def test_scores_of_given_targets_keep_their_lines_too(run, tmp_path):
    (tmp_path / "pairs.tsv").write_text("ab\tba\n\tx\na\t\nc\tc\n\n \t \n", encoding="utf-8")
    said = command("score", run, tmp_path / "pairs.tsv")
    assert [bool(line) for line in said.out.split("\n")] == [True, False, False, True, False, False, False]
    assert "2 pairs, 4 left out" in said.err
    assert "  line 2: empty source\n  line 3: empty target\n" in said.err


def test_in_evaluation_the_pair_is_dropped_and_counted(run, tmp_path):
    (tmp_path / "pairs.tsv").write_text("ab\tba\n\tx\na\t\nc\tc\n", encoding="utf-8")
    said = command("evaluate", run, tmp_path / "pairs.tsv", "--metric", "exact", "--bootstrap", 0)
    assert said.out == "exact 100.00, 2 items, nrefs:1|ref:any\n"
    assert "2 pairs, 2 left out" in said.err
