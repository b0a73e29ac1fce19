import pytest
from tests.runs import Heard, tiny_recipe, words, write_pairs

from sublayer.tasks.fit import fit
from sublayer.tasks.samples import Samples


def test_the_first_answers_are_told_and_kept_by_their_step(tmp_path):
    (tmp_path / "samples").mkdir()
    heard = Heard()
    samples = Samples(tmp_path, 2, heard)
    newest = tmp_path / "samples" / "valid.tsv"
    newest.write_text("ab\tba\tba\ncd\tdd\tdc\nef\tfe\tfe\n", encoding="utf-8")
    samples.record({"step": 5, "loss": 1.0})
    assert heard.messages == []
    samples.record({"step": 10, "valid_loss": 1.0})
    assert heard.messages == ["  ab  |  ba  |  ba", "  cd  |  dd  |  dc"]
    newest.write_text("ab\tbb\tba\n", encoding="utf-8")
    samples.record({"step": 20, "valid_loss": 0.5})
    kept = {path.name: path.read_text("utf-8") for path in (tmp_path / "samples").glob("step-*")}
    assert kept == {"step-00000010.tsv": "ab\tba\tba\ncd\tdd\tdc\n", "step-00000020.tsv": "ab\tbb\tba\n"}


@pytest.mark.parametrize("metrics", [[], ["exact"]])
def test_a_run_keeps_those_of_each_validation(tmp_path, metrics):
    train, valid = write_pairs(tmp_path / "t.tsv", words()[:20]), write_pairs(tmp_path / "v.tsv", words()[20:25])
    recipe = tiny_recipe(train, valid, steps=4, validate_every=2, samples=2, validate_metrics=metrics)
    fit(recipe, tmp_path / "run", heard := Heard())
    kept = sorted((tmp_path / "run" / "samples").iterdir())
    assert [path.name for path in kept] == ["step-00000002.tsv", "step-00000004.tsv", "valid.tsv"]
    for path in kept[:2]:
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
        assert [(source, right) for source, _, right in rows] == [(word, word[::-1]) for word in words()[20:22]]
    assert sum(message.startswith("  ") and " | " in message for message in heard.messages) == 4
