"""Files that are scored and evaluated part by part."""

import json
import re

import pytest
from tests.runs import Heard, command, reverse_run, tiny_recipe, words, write_pairs

from sublayer.tasks import shards
from sublayer.tasks.fit import fit


@pytest.fixture
def pairs(tmp_path):
    """Nine lines: one left out, one source twice with other targets, in other parts."""
    found = words()[:6]
    lines = [f"{word}\t{word[::-1]}" for word in found]
    lines[2:2] = [f"{found[0]}\twrong", "\tempty"]
    (tmp_path / "pairs.tsv").write_text("".join(f"{line}\n" for line in [*lines, f"{found[1]}\t"]), encoding="utf-8")
    return tmp_path / "pairs.tsv"


def parts(tmp_path, verb, *asked, of=3):
    """The joined file of all parts."""
    for number in range(1, of + 1):
        said = command(verb, *asked, "--shard", f"{number}/{of}", "--out", tmp_path / f"{verb}.{number}")
        assert (said.code, said.out) == (0, "")
    joined = tmp_path / f"{verb}.all"
    joined.write_text(
        "".join((tmp_path / f"{verb}.{n}").read_text("utf-8") for n in range(1, of + 1)), encoding="utf-8"
    )
    return joined


@pytest.mark.parametrize("options", [(), ("--json",), ("--tokens",)], ids=" ".join)
def test_the_scores_of_the_parts_are_those_of_the_file(tmp_path, pairs, options):
    whole = command("score", reverse_run(), pairs, *options)
    assert whole.out.count("\n") == 9 and whole.out.splitlines()[3] == whole.out.splitlines()[8] == ""
    assert (
        "pairs.tsv: 7 pairs, 2 left out\n  line 4: empty source\n  line 9: empty target\n" == whole.err.split("/")[-1]
    )
    joined = parts(tmp_path, "score", reverse_run(), pairs, *options).read_text("utf-8")
    assert _numbers(joined) == pytest.approx(_numbers(whole.out), abs=1e-5)
    assert joined.count("\n") == 9


def _numbers(text):
    return [float(number) for number in re.findall(r"-\d+\.\d+", text)]


METRICS = [word for name in ("exact", "cer", "bleu:char", "loss", "perplexity") for word in ("--metric", name)]


def test_an_evaluation_in_parts_gives_the_scores_of_the_whole(tmp_path, pairs):
    asked = (reverse_run(), pairs, *METRICS, "--beam", 2)
    whole = json.loads(command("evaluate", *asked, "--json").out)
    joined = parts(tmp_path, "evaluate", *asked)
    found = json.loads(command("evaluate", *asked, "--json", "--answers", joined).out)
    for name in ("exact", "cer", "bleu:char"):
        assert found[name] == whole[name]
    for name in ("loss", "perplexity"):
        assert found[name] == whole[name] | {"value": pytest.approx(whole[name]["value"], rel=1e-5)}
    assert whole["exact"]["count"] == 6  # a source on two lines is one item
    records = [json.loads(line) if line else None for line in joined.read_text("utf-8").splitlines()]
    assert records[3] is records[8] is None
    assert records[2].keys() == {"line", "answer", "logp", "tokens"} and records[2]["tokens"] == 6


def test_an_evaluation_that_was_stopped_goes_on(tmp_path, pairs, monkeypatch):
    monkeypatch.setattr(shards, "AT_ONCE", 2)
    asked = ("evaluate", reverse_run(), pairs, "--metric", "exact", "--out", tmp_path / "o")
    monkeypatch.setattr("sublayer.tasks.judging.told", _dies_at_line(5))
    assert command(*asked).code == 130
    assert json.loads((tmp_path / "o.part.json").read_text("utf-8"))["lines"] == 4 and not (tmp_path / "o").exists()
    monkeypatch.undo()
    assert command(*asked).code == 0
    lines = (tmp_path / "o").read_text("utf-8").splitlines()
    assert [json.loads(line)["line"] for line in lines if line] == [1, 2, 3, 5, 6, 7, 8]


def _dies_at_line(number):
    from sublayer.tasks.judging import told

    def told_until(task, lines, first, ask, write):
        if first >= number:
            raise KeyboardInterrupt
        return told(task, lines, first, ask, write)

    return told_until


def test_pairs_that_are_too_long_are_empty_lines_and_named(tmp_path):
    pairs = write_pairs(tmp_path / "p.tsv", ["ab", "cd", "abcdeabcde", "e"])
    short = write_pairs(tmp_path / "short.tsv", ["ab", "cd", "e"])
    fit(tiny_recipe(short, steps=1, model={"position": "learned", "max_len": 6}), tmp_path / "run", Heard())
    for verb in ("score", "evaluate"):
        said = command(verb, tmp_path / "run", pairs, "--out", tmp_path / verb)
        assert said.code == 2 and "longer than the model can read" in said.err and "line 3: 11 tokens" in said.err
        lines = (tmp_path / verb).read_text("utf-8").splitlines()
        assert [bool(line) for line in lines] == [True, True, False, True]


def test_what_does_not_go_together_is_told(tmp_path, pairs):
    run = reverse_run()
    said = command("evaluate", run, pairs, "--shard", "1/2")
    assert said.code == 2 and "--shard finds what the scores need of a part: say where to, with --out." in said.err
    said = command("evaluate", run, pairs, "--answers", "x", "--out", "y")
    assert said.code == 2 and "--answers does not go together with --out: leave one or the other out." in said.err
    joined = parts(tmp_path, "evaluate", run, pairs, "--metric", "exact")
    said = command("evaluate", run, pairs, "--answers", joined, "--metric", "exact", "--metric", "loss")
    assert said.code == 2 and "lacks logp for 7 of 7 pairs, the first in line 1: join all parts" in said.err
    (tmp_path / "o").write_text("ba\n", encoding="utf-8")
    said = command("evaluate", run, pairs, "--answers", tmp_path / "o", "--metric", "exact")
    assert said.code == 2 and "o, line 1: 'ba' is not what `evaluate --out` writes." in said.err
