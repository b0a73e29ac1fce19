"""G38: options that were misspelt, misplaced or impossible were ignored. Now: exit code 2 before data is read."""

import pytest
from tests.runs import command

CASES = {
    "train: {learing_rate: 0.001}": "train.learing_rate: there is no such key. Did you mean 'learning_rate'?",
    "learning_rate: 0.001": "learning_rate: there is no such key. Did you mean train.learning_rate?",
    "model: {learning_rate: 0.001}": "model.learning_rate: there is no such key. Did you mean train.learning_rate?",
    "train: {dropout: 0.1}": "train.dropout: there is no such key. Did you mean model.dropout or "
    "train.subwords.dropout?",
    "text: {source: {knid: char}}": "text.source.knid: there is no such key. Did you mean 'kind'?",
    "text: {knid: char}": "text.knid: there is no such key.",
    "trian: {}": "trian: there is no such key. Did you mean 'train'?",
    "model: {position: rotray}": "position: kind 'rotray' is unknown. Did you mean 'rotary'?",
    "model: {d_model: 10, num_heads: 3}": "d_model=10 does not divide into num_heads=3 equal heads: choose",
    "search: {nbest: 5, beam: 4}": "search: nbest=5 is more than beam=4 can give: widen the beam",
    "model: {tie: all}": "model.tie 'all' needs one vocabulary: set text.shared to true, or tie to 'target'",
    "train: {steps: many}": "train.steps: Input should be a valid integer",
    "train: {steps: 1.5}": "train.steps: Input should be a valid integer",
    "train: {betas: 0.9}": "train.betas: ",
    "data: {skip_bad: 'yes please'}": "data.skip_bad: ",
    "train: 500": "train: a section with keys is needed, not 500.",
    "train: {schedule: linaer}": "train.schedule: Input should be 'constant', 'cosine', 'inverse_sqrt' or 'linear'",
    "task: translation": "task: there is no task 'translation'. Did you mean 'translate'?",
}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("verb", ["validate", "train", "show"])
def test_a_mistake_stops_before_data_is_read(tmp_path, verb, text):
    recipe = tmp_path / "r.yaml"
    data = "" if text.startswith("data") else "data: {train: nowhere.tsv}\n"
    recipe.write_text(f"{data}{text}\n", encoding="utf-8")
    out = ("--out", tmp_path / "run") if verb == "train" else ()
    said = command(verb, recipe, *out)
    assert said.code == 2 and said.out == ""
    assert f"sublayer: {recipe}:\n" in said.err
    assert CASES[text] in said.err
    assert "nowhere" not in said.err and not (tmp_path / "run").exists()


def test_all_mistakes_are_told_at_once(tmp_path):
    recipe = tmp_path / "r.yaml"
    recipe.write_text("trian: {}\ntrain: {stpes: 1}\nsearch: {nbest: 9}\n", encoding="utf-8")
    told = command("validate", recipe, "--set", "model.d_modle=3").err
    assert told.count("\n  - ") == 4
    for key in ("trian:", "train.stpes:", "search:", "model.d_modle:"):
        assert f"  - {key} " in told


def test_the_same_mistakes_on_the_command_line():
    said = command("train", "--train", "nowhere.tsv", "--set", "train.stpes=3", "--out", "nowhere")
    assert said.code == 2 and "sublayer: the command line:\n  - train.stpes: there is no such key" in said.err
    said = command("train", "--train", "nowhere.tsv", "--stpes", 3)
    assert said.code == 2 and "No such option" in said.err


def test_numbers_and_words_are_those_of_yaml_1_2(tmp_path):
    recipe = tmp_path / "r.yaml"
    recipe.write_text("train: {learning_rate: 1e-3, eps: 1E-8}\ndata: {train: no}\n", encoding="utf-8")
    assert command("validate", recipe).code == 0
    assert command("validate", recipe, "--set", "train.learning_rate=2e-3").code == 0
    said = command("train", recipe, "--out", tmp_path / "run")
    assert said.code == 2 and "no cannot be read: No such file" in said.err  # `no` is the name of a file
