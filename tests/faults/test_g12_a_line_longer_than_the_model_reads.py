"""G12, files: a line that is too long is named with its length and the limit, and no other line suffers."""

import pytest
from tests.runs import Heard, command, tiny_recipe, words, write_pairs

from sublayer.data import Pair
from sublayer.errors import DataError
from sublayer.tasks.fit import fit

LINES = ["ab", "abcdeab", "ba"]  # 7 letters and </s> against 6 positions


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    train = write_pairs(folder / "train.tsv", words()[:30])
    fit(tiny_recipe(train, model={"position": "learned", "max_len": 6}), folder / "run", Heard())
    return folder / "run"


def test_a_file_of_three_lines_gives_three_lines_and_says_which_was_too_long(run, tmp_path):
    (tmp_path / "three.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    said = command("predict", run, tmp_path / "three.txt")
    first, second, third = said.out.removesuffix("\n").split("\n")
    assert second == "" and first and third
    assert "line 2: 8 tokens with </s>, and the model reads 6" in said.err
    assert said.code == 2
    alone = command("predict", run, stdin=b"ab\nba\n")
    assert alone.code == 0 and alone.out == f"{first}\n{third}\n"


def test_in_python_it_is_an_error_before_the_model_runs_and_the_next_call_works(run):
    import sublayer

    task = sublayer.load(run)
    expected = list(task.predict(["ab", "ba"]))
    with pytest.raises(DataError, match=r"line 2: 8 tokens with </s>, and the model reads 6\. Cut the text, or train"):
        list(task.predict(LINES))
    assert list(task.predict(["ab", "ba"])) == expected
    with pytest.raises(DataError, match=r"Longer than the 6 positions .*\n  - line 9: 8 tokens"):
        list(task.score([Pair("ab", "abcdeab", 9)]))


def test_positions_that_grow_know_no_limit(tmp_path):
    train = write_pairs(tmp_path / "train.tsv", words()[:30])
    for kind in ("sinusoidal", "rotary"):
        model = {"position": kind, "max_len": 6}
        task = fit(tiny_recipe(train, model=model, steps=1), tmp_path / kind, Heard())
        assert len(list(task.predict([*LINES, "abcde" * 40]))) == 4


def test_a_source_beyond_the_token_budget_is_a_batch_of_its_own(tmp_path):
    train = write_pairs(tmp_path / "train.tsv", ["abcde" * 20, *words()[:20]])
    heard = Heard()
    fit(tiny_recipe(train, batch_tokens=16), tmp_path / "run", heard)
    assert len(heard.steps) == 10
