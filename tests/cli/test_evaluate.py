import json

import pytest
from tests.runs import Heard, command, reverse_run, tiny_recipe, words, write_pairs

from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit


@pytest.fixture(scope="module")
def run():
    return reverse_run()


@pytest.fixture
def pairs(tmp_path):
    return write_pairs(tmp_path / "pairs.tsv", words()[:9])


def test_the_run_says_which_metrics(run, pairs):
    said = command("evaluate", run, pairs, "--bootstrap", 20)
    exact, loss, perplexity = said.out.splitlines()
    assert exact == "exact 100.00 (95 %: 100.00 to 100.00), 9 items, nrefs:1|ref:any"
    assert loss.startswith("loss 0.") and loss.endswith("tokens, loss|char tokens with EOS")
    assert perplexity.startswith("perplexity 1.")


def test_other_metrics_and_json(run, pairs):
    said = command("evaluate", run, pairs, "--metric", "cer", "--metric", "loss", "--json", "--beam", 2)
    scores = json.loads(said.out)
    assert list(scores) == ["cer", "loss"]
    assert scores["cer"]["value"] == 0 and scores["cer"]["interval"] == [0, 0]
    assert scores["loss"]["interval"] is None and scores["loss"]["higher_is_better"] is False


def test_a_run_without_decoded_metrics_has_loss_and_perplexity(tmp_path, pairs):
    fit(tiny_recipe(pairs, steps=1), tmp_path / "run", Heard())
    assert [line.split()[0] for line in command("evaluate", tmp_path / "run", pairs).out.splitlines()] == [
        "loss",
        "perplexity",
    ]


def test_a_folder_that_holds_a_model_and_no_run_will_do(run, tmp_path, pairs):
    load(run).save_pretrained(tmp_path / "saved")
    said = command("evaluate", tmp_path / "saved", pairs)
    assert said.code == 0 and [line.split()[0] for line in said.out.splitlines()] == ["loss", "perplexity"]
    assert command("predict", tmp_path / "saved", stdin=b"ab\n").out == "ba\n"


def test_files_are_read_in_the_columns_of_the_run(tmp_path):
    wide = tmp_path / "wide.tsv"
    wide.write_text("1\tab\tba\n2\tcd\tdc\n", encoding="utf-8")
    recipe = tiny_recipe(wide, steps=1)
    recipe.data.columns = (2, 3)
    fit(recipe, tmp_path / "run", Heard())
    for verb in ("evaluate", "score"):
        said = command(verb, tmp_path / "run", wide)
        assert said.code == 0 and "2 pairs, 0 left out" in said.err


def test_two_parallel_files_and_no_third(run, tmp_path):
    (tmp_path / "a.src").write_text("ab\ncd\n", encoding="utf-8")
    (tmp_path / "a.trg").write_text("ba\ndc\n", encoding="utf-8")
    files = [tmp_path / "a.src", tmp_path / "a.trg"]
    assert command("evaluate", run, *files, "--metric", "exact").out.startswith("exact 100.00")
    assert command("score", run, *files).out.count("\n") == 2
    for verb in ("evaluate", "score"):
        said = command(verb, run, *files, files[0])
        assert said.code == 2 and "one file of pairs, or a source file and a target file, not 3 files" in said.err


def test_what_cannot_be_measured_is_told(run, pairs, tmp_path):
    said = command("evaluate", run, pairs, "--metric", "exacct")
    assert said.code == 2 and "unknown metric 'exacct'. Did you mean 'exact'?" in said.err
    said = command("evaluate", tmp_path / "nowhere", pairs)
    assert said.code == 2 and "nowhere is no run folder" in said.err
    said = command("evaluate", run, tmp_path / "nowhere.tsv")
    assert said.code == 2 and "nowhere.tsv cannot be read: No such file" in said.err
    assert command("evaluate", run).code == 2


def test_int8_stands_beside_fp32(run, pairs, monkeypatch):
    monkeypatch.setattr("sublayer.models.inference.LARGE", 0)
    options = ("evaluate", run, pairs, "--metric", "exact", "--metric", "loss", "--bootstrap", 0)
    exact, loss = command(*options).out.splitlines()
    said = command(*options, "--int8").out.splitlines()
    assert said[:3] == [f"fp32: {exact}", f"int8: {exact}", "int8 - fp32: exact +0.0000"]
    assert said[3] == f"fp32: {loss}" and said[4].startswith("int8: loss 0.")
    found = json.loads(command(*options, "--int8", "--json").out)
    values = [found[form]["loss"]["value"] for form in ("fp32", "int8")]
    assert found["difference"] == {"exact": 0.0, "loss": values[1] - values[0]} and values[0] != values[1]
    assert said[5] == f"int8 - fp32: loss {values[1] - values[0]:+.4f}"
