import subprocess
import sys

import pytest

from sublayer.errors import ConfigError
from sublayer.tasks.space import Choice, Range
from sublayer.tasks.study import Study, Tried

SPACE = {
    "rate": Range(low=1e-5, high=1.0, log=True),
    "layers": Range(low=1, high=7, step=2),
    "dropout": Range(low=0.0, high=0.5, step=0.25),
    "kind": Choice(("char", {"of": "bpe"}, None)),
}


def study(folder, higher_is_better=False, seed=1, about=()):
    return Study(folder / "study.db", higher_is_better=higher_is_better, seed=seed, about=dict(about))


def score(settings):
    """Lowest at rate 0.01."""
    return abs(settings["rate"] - 0.01) + settings["layers"]


def test_settings_are_of_the_space(tmp_path):
    drawn = [study(tmp_path).draw(SPACE).settings]
    searched = study(tmp_path)
    for number in range(30):
        trial = searched.draw(SPACE)
        assert trial.number == number
        drawn.append(trial.settings)
        trial.end(score(trial.settings))
    assert drawn[0] == drawn[1]  # which had not come to its end
    assert all(1e-5 <= settings["rate"] <= 1 for settings in drawn)
    assert {type(settings["layers"]) for settings in drawn} == {int}
    assert {settings["layers"] for settings in drawn} <= {1, 3, 5, 7}
    assert {settings["dropout"] for settings in drawn} == {0.0, 0.25, 0.5}
    assert all(settings["kind"] in SPACE["kind"].values for settings in drawn)
    assert [tried.settings for tried in searched.ended()] == drawn[1:]


def test_what_scored_well_is_tried_more_often(tmp_path):
    searched = study(tmp_path)
    for _ in range(25):
        trial = searched.draw(SPACE)
        trial.end(score(trial.settings))
    first, later = ([t.settings["layers"] for t in part] for part in (searched.ended()[:10], searched.ended()[15:]))
    assert sum(later) / 10 < sum(first) / 10 - 1


def test_a_search_that_was_stopped_draws_what_it_would_have_drawn(tmp_path):
    (tmp_path / "whole").mkdir(), (tmp_path / "parts").mkdir()
    whole = study(tmp_path / "whole")
    for number in range(13):
        for searched in (whole, study(tmp_path / "parts")):
            if number % 4 == 1 and searched is not whole:
                searched.draw(SPACE)  # and killed
                searched = study(tmp_path / "parts")
            trial = searched.draw(SPACE)
            trial.report(5, score(trial.settings))
            trial.end(score(trial.settings))
    assert study(tmp_path / "parts").ended() == whole.ended()
    (tmp_path / "other").mkdir()
    assert study(tmp_path / "other", seed=2).draw(SPACE).settings != whole.ended()[0].settings


@pytest.mark.parametrize("sign", [1, -1])
def test_worse_than_the_median_is_hopeless(tmp_path, sign):
    searched = study(tmp_path, higher_is_better=sign < 0)
    for value in (1.0, 2.0, 3.0, 4.0, 5.0):
        trial = searched.draw(SPACE)
        trial.report(10, sign * 9.0), trial.report(20, sign * value)
        assert not trial.hopeless()  # of the first five none is
        trial.end(sign * value)
    good, bad = searched.draw(SPACE), None
    good.report(10, sign * 9.0)
    assert not good.hopeless()
    good.report(20, sign * 2.9)
    assert not good.hopeless()
    good.end(sign * 2.9)
    bad = searched.draw(SPACE)
    assert not bad.hopeless()
    bad.report(10, sign * 9.5)
    assert bad.hopeless()
    again = study(tmp_path, higher_is_better=sign < 0).draw(SPACE)  # killed before that was written down
    again.report(10, sign * 9.5)
    assert again.number == bad.number and again.hopeless()
    again.prune()
    searched = study(tmp_path, higher_is_better=sign < 0)
    assert [(t.state, t.value) for t in searched.ended()[5:]] == [("done", sign * 2.9), ("pruned", sign * 9.5)]
    assert searched.best().number == 0


def test_the_best_is_the_earlier_of_those_that_came_to_their_end(tmp_path):
    searched = study(tmp_path, higher_is_better=True)
    assert searched.best() is None
    for value in (1.0, 3.0, float("nan"), 3.0, None, 2.0):
        trial = searched.draw(SPACE)
        trial.fail() if value is None else trial.end(value)
    assert [t.state for t in searched.ended()] == ["done", "done", "failed", "done", "failed", "done"]
    assert searched.best() == Tried(1, "done", 3.0, searched.ended()[1].settings)


def test_it_keeps_what_it_is_about(tmp_path):
    study(tmp_path, about={"steps": 5})
    assert study(tmp_path, about={"steps": 6}).about == {"steps": 5}


def test_without_optuna_the_cure_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r"A search needs optuna: pip install 'sublayer\[search\]'"):
        study(tmp_path)


def test_the_command_line_does_not_import_it():
    code = "import sys, sublayer.cli.main, sublayer.tasks.trials; print('optuna' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).stdout == b"False\n"
