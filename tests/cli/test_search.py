import re

import pytest
from tests.runs import command, words, write_pairs

from sublayer.tasks.recipe_file import read_recipe

RECIPE = """
data: {train: a.tsv, valid: b.tsv}
text: {source: {kind: char}, target: {kind: char}}
model: {d_model: 16, num_heads: 2, encoder_layers: 1, decoder_layers: 1, d_ff: 32}
train: {steps: 2, warmup: 0, batch_tokens: 64, validate_metrics: []}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path / "a.tsv", words()[:30])
    write_pairs(tmp_path / "b.tsv", words()[30:40])
    (tmp_path / "r.yaml").write_text(RECIPE, encoding="utf-8")
    space = "train.learning_rate: {low: 1e-3, high: 1e-1, log: true}\nmodel.activation: [relu, gelu]\n"
    (tmp_path / "space.yaml").write_text(space, encoding="utf-8")
    return tmp_path


def test_a_table_of_the_trials_and_the_best_settings_for_train(folder):
    said = command("search", "r.yaml", "--space", "space.yaml", "--trials", 2, "--set", "model.dropout=0")
    assert said.code == 0
    head, *rows, best = said.out.splitlines()
    assert head.split() == ["trial", "loss", "state", "train.learning_rate", "model.activation"]
    found = [re.fullmatch(r"(\d) +(\d\.\d+) +done +(0\.\d+) +(relu|gelu)", row) for row in rows]
    number, _, rate, kind = min((row.groups() for row in found), key=lambda row: float(row[1]))
    pasted = re.fullmatch(r"--set train.learning_rate=(0\.\d+) --set model.activation=(relu|gelu)", best)
    assert (f"{float(pasted[1]):.5g}", pasted[2]) == (rate, kind)
    assert f"\nBest: runs/space/trial-{number}. Its recipe: runs/space/best.yaml\n" in said.err
    recipe = read_recipe(folder / "runs" / "space" / "best.yaml")
    assert (recipe.train.learning_rate, recipe.model.dropout) == (float(pasted[1]), 0)
    again = command("search", "r.yaml", "--space", "space.yaml", "--trials", 2, "--set", "model.dropout=0")
    assert again.out == said.out and "trial 2" not in again.err


def test_all_problems_come_before_the_first_trial(folder):
    (folder / "space.yaml").write_text("train.stepz: [1]\ntrain.ema: {low: 0.9, high: 2}\n", encoding="utf-8")
    said = command("search", "r.yaml", "--space", "space.yaml", "--out", "found")
    assert said.code == 2 and said.out == "" and not (folder / "found").exists()
    assert said.err.strip().splitlines() == [
        "sublayer: space.yaml:",
        "  - train.stepz: there is no such key. Did you mean 'steps'?",
        "  - train.ema: Input should be less than 1 (got 2)",
    ]


def test_where_no_trial_comes_to_its_end_that_is_an_error(folder):
    (folder / "space.yaml").write_text("model.num_heads: [3]\n", encoding="utf-8")
    said = command("search", "r.yaml", "--space", "space.yaml", "--trials", 2)
    assert said.code == 2 and said.out == ""
    assert said.err.endswith("sublayer: None of the 2 trials came to its end: look above at what they say.\n")


def test_what_it_needs_is_told(folder, monkeypatch):
    said = command("search", "--space", "space.yaml")
    assert said.code == 2 and "Nothing to train: name a recipe, or a file of examples with --train." in said.err
    monkeypatch.setenv("RANK", "0")
    said = command("search", "r.yaml", "--space", "space.yaml")
    assert said.code == 2 and "A search trains in one process: start it without torchrun." in said.err
