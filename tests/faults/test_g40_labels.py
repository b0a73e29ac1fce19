"""G40: labels keep the order of training, whatever is evaluated; one that was not trained is an error."""

import pytest
from tests.runs import Heard

from sublayer.data.rows import Row, read_rows
from sublayer.errors import DataError
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

SMALL = {"d_model": 8, "num_heads": 2, "encoder_layers": 1, "d_ff": 8}


def run(folder, name, lines):
    path = folder / f"{name}.tsv"
    path.write_text("".join(lines), encoding="utf-8")
    train = {"steps": 1, "warmup": 0, "validate_metrics": [], "metric": "loss"}
    values = {"task": "classify", "data": {"train": str(path)}, "model": SMALL, "train": train}
    return fit(make_recipe(values, origin="o"), folder / name, Heard())


@pytest.fixture
def task(tmp_path):
    return run(tmp_path, "a", ["good\tpos\n", "bad\tneg\n", "so so\tmid\n"])


def test_the_order_does_not_depend_on_the_order_of_the_lines(tmp_path, task):
    other = run(tmp_path, "b", ["so so\tmid\n", "bad\tneg\n", "good\tpos\n"])
    assert task.labels.names == other.labels.names == ("mid", "neg", "pos")
    assert (tmp_path / "a" / "task.json").read_bytes() == (tmp_path / "b" / "task.json").read_bytes()


def test_a_file_with_fewer_labels_is_scored_by_those_of_training(tmp_path, task):
    (tmp_path / "pos.tsv").write_text("good\tpos\n", encoding="utf-8")
    examples = task.encode_rows(read_rows(tmp_path / "pos.tsv", (2, 3)).items)
    assert [labels for _, labels in examples] == [[2]]


def test_a_label_that_was_not_trained_is_an_error_with_its_line(task):
    with pytest.raises(DataError, match=r"does not know:\n  - line 7: 'poss'. Did you mean 'pos'\?"):
        task.evaluate([Row(("good", "pos"), 3), Row(("good", "poss"), 7)], ["accuracy"])
