"""Targets that are written from their last character to their first."""

import pytest
from tests.runs import Heard, tiny_recipe, words, write_pairs

from sublayer.errors import ConfigError
from sublayer.tasks.fit import fit
from sublayer.tasks.search import Search

TEXT = {"source": {"kind": "char"}, "target": {"kind": "backward"}}


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """Has learned to copy words."""
    folder = tmp_path_factory.mktemp("copy")
    pairs = write_pairs(folder / "train.tsv", words("abc", 3), turn=lambda word: word)
    settings = dict(steps=300, batch_tokens=256, learning_rate=5e-3, warmup=30, label_smoothing=0.0, save_every=300)
    recipe = tiny_recipe(pairs, text=TEXT, model=dict(d_model=32, d_ff=64, dropout=0.0), **settings)
    return fit(recipe, folder / "run", Heard())


def test_answers_read_forward_and_their_tokens_stand_as_they_were_written(task):
    answers = [found[0] for found in task.predict(["abc", "ca"])]
    assert [answer.text for answer in answers] == ["abc", "ca"]
    assert answers[0].tokens == ("c", "b", "a", "</s>")
    assert "".join(task.stream("abc")) == "abc"
    assert task.alternatives("ab", "b", 1)[0].answer.text == "ab"


@pytest.mark.parametrize("setting", [dict(prefix="a"), dict(stop_strings=["b"])])
def test_settings_about_the_beginning_of_an_answer_are_refused(task, setting):
    (name,) = setting
    with pytest.raises(ConfigError, match=f"search.{name} is about where an answer begins, and this model writes its"):
        list(task.predict(["abc"], search=Search(**setting)))
