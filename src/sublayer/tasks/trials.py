"""Hyper-parameter search: the same recipe again and again, with other settings, each time as a run of its own."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch

from sublayer.errors import ConfigError, DivergedError, listing
from sublayer.inspect.curves import read_metrics
from sublayer.models.files import write_text
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe
from sublayer.tasks.sections import AnyRecipe
from sublayer.tasks.space import Choice, options, read_space, words
from sublayer.tasks.study import Study, Trial, Tried
from sublayer.train.report import Listener, Progress


class Pruned(Exception):
    """A trial is worse than most, and ends."""


class Reporting:
    """Hands a run's validations on to its trial, and ends the run with the update after one that shows it hopeless."""

    def __init__(self, listener: Listener, trial: Trial, metric: str) -> None:
        self.listener, self.trial, self.key, self.hopeless = listener, trial, f"valid_{metric}", False

    def step(self, progress: Progress) -> None:
        if self.hopeless:
            raise Pruned
        self.listener.step(progress)

    def record(self, line: dict[str, Any]) -> None:
        self.listener.record(line)
        if self.key in line:
            self.trial.report(line["step"], line[self.key])
            self.hopeless = self.trial.hopeless()

    def message(self, text: str) -> None:
        self.listener.message(text)


class Search:
    """Trials in folders `out`/trial-N, what came of them in `out`/study.db. The same search goes on where it stood.

    ConfigError where the space does not fit the recipe, and where `out` holds a search of other ones.
    """

    def __init__(self, recipe: AnyRecipe, space: Path, out: Path, listener: Listener) -> None:
        values = recipe.model_dump(mode="json", exclude_unset=True)
        values.setdefault("train", {})
        train = make_recipe(deepcopy(values), origin="the recipe").train
        if recipe.data.valid is None:
            raise ConfigError("data.valid is not set: trials are compared by how they do on it.")
        self.values, self.metric, self.out, self.listener = values, train.metric, out, listener
        self.space = read_space(space, values)
        about = {"recipe": values, "space": {key: _plain(drawn) for key, drawn in self.space.items()}}
        out.mkdir(parents=True, exist_ok=True)
        higher = train.measures[train.metric].higher_is_better
        self.study = Study(out / "study.db", higher_is_better=higher, seed=train.seed, about=about)
        if changed := _changed(self.study.about, about):
            title = f"{out} holds a search of something else. Choose another --out. Asked for now:"
            raise ConfigError(listing(title, changed))

    def run(self, trials: int) -> list[Tried]:
        """Until so many trials have ended; all of them. The recipe of the best is written to `out`/best.yaml."""
        while len(self.study.ended()) < trials:
            trial = self.study.draw(self.space)
            self.listener.message(f"trial {trial.number}: {options(trial.settings)}")
            self._try(trial)
        if best := self.study.best():
            recipe = self._folder(best.number) / "recipe.yaml"
            write_text(self.out / "best.yaml", recipe.read_text(encoding="utf-8"))
        return self.study.ended()

    def _try(self, trial: Trial) -> None:
        if trial.hopeless():  # it was stopped before that was written down
            return self._prune(trial)
        folder = self._folder(trial.number)
        begun = (folder / "recipe.yaml").exists()
        try:
            recipe = make_recipe(deepcopy(self.values), words(trial.settings), origin="its settings do not go together")
            fit(recipe, folder, Reporting(self.listener, trial, self.metric), resume=begun)
        except Pruned:
            self._prune(trial)
        except (ConfigError, DivergedError, torch.OutOfMemoryError) as error:
            if begun and isinstance(error, ConfigError):  # its data, say, and not the settings that are tried
                raise
            trial.fail()
            self.listener.message(f"trial {trial.number} failed: {error}")
        else:
            trial.end(next(line["best"] for line in reversed(read_metrics(folder)) if "best" in line))

    def _prune(self, trial: Trial) -> None:
        trial.prune()
        self.listener.message(f"trial {trial.number} is pruned: it is worse than most were there.")

    def _folder(self, number: int) -> Path:
        return self.out / f"trial-{number}"


def _plain(drawn: Any) -> Any:
    return list(drawn.values) if isinstance(drawn, Choice) else drawn.model_dump()


def _changed(then: Mapping[str, Any], now: Mapping[str, Any], path: str = "") -> list[str]:
    """The keys that say something else."""
    told = []
    for key in {**then, **now}:
        before, after = then.get(key), now.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            told += _changed(before, after, f"{path}{key}.")
        elif before != after:
            told.append(f"{path}{key}: {after!r}, and {before!r} in the search")
    return told
