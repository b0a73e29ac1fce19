"""What a search has tried and what it tries next, kept in a file (the extra `search`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

from sublayer.errors import ConfigError
from sublayer.tasks.space import Choice, Range, Settings, Space

if TYPE_CHECKING:
    import optuna

ABOUT = "about"
STATES: Mapping[str, Literal["done", "pruned", "failed"]] = {"COMPLETE": "done", "PRUNED": "pruned", "FAIL": "failed"}


@dataclass(frozen=True)
class Tried:
    """A trial that has ended. `value` is its best score, of a pruned one the last; None where it failed."""

    number: int
    state: Literal["done", "pruned", "failed"]
    value: float | None
    settings: Settings


class Study:
    """Draws by the tree-structured Parzen estimator (Bergstra et al. 2011) and stops, at a validation, a trial whose
    best score is worse than the median of the earlier ones there (Golovin et al. 2017, section 3.1): optuna's defaults.

    What is drawn depends on the seed and the trials that have ended, not on how often the search was stopped.
    ConfigError where optuna is missing. `about`, which JSON can hold, is what it was made for, where the file is there.
    """

    def __init__(self, file: Path, *, higher_is_better: bool, seed: int, about: Mapping[str, Any]) -> None:
        try:
            import optuna
        except ImportError:
            raise ConfigError("A search needs optuna: pip install 'sublayer[search]'") from None
        self.optuna, self.seed = optuna, seed
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.study = optuna.create_study(
            storage=f"sqlite:///{file.resolve()}",
            study_name="search",
            direction="maximize" if higher_is_better else "minimize",
            load_if_exists=True,
        )
        if ABOUT not in self.study.user_attrs:
            self.study.set_user_attr(ABOUT, about)
        self.about: Mapping[str, Any] = self.study.user_attrs[ABOUT]

    def ended(self) -> list[Tried]:
        """The trials that have, in their order."""
        return [
            Tried(trial.number, STATES[trial.state.name], trial.value, _settings(trial.params))
            for trial in self.study.get_trials(deepcopy=False)
            if trial.state.is_finished()
        ]

    def best(self) -> Tried | None:
        """The best of those that have not been pruned; the earlier one of two that are alike."""
        done = [tried for tried in self.ended() if tried.state == "done"]
        sign = -1 if self.study.direction.name == "MAXIMIZE" else 1
        return min(done, key=lambda tried: sign * (tried.value or 0.0), default=None)

    def draw(self, space: Space) -> Trial:
        """The one that was not brought to an end, or a new one."""
        trials = self.study.get_trials(deepcopy=False)
        open_ones = [trial for trial in trials if not trial.state.is_finished()]
        number = open_ones[0].number if open_ones else len(trials)
        # A generator that went on from trial to trial would begin again in a search that does.
        self.study.sampler = self.optuna.samplers.TPESampler(seed=crc32(f"{self.seed}/{number}".encode()))
        trial = self.optuna.trial.Trial(self.study, open_ones[0]._trial_id) if open_ones else self.study.ask()
        return Trial(self.study, trial, {key: _drawn(trial, key, values) for key, values in space.items()})


class Trial:
    """Settings that are tried."""

    def __init__(self, study: optuna.Study, trial: optuna.Trial, settings: Settings) -> None:
        self.study, self.trial, self.settings, self.number = study, trial, settings, trial.number
        self.told = set(study.get_trials(deepcopy=False)[self.number].intermediate_values)

    def report(self, step: int, score: float) -> None:
        """A validation. One that the trial had come to before it was resumed says nothing new."""
        if step not in self.told:
            self.trial.report(score, step)
            self.told.add(step)

    def hopeless(self) -> bool:
        """Whether it is worse than most where it stands."""
        return bool(self.told) and self.trial.should_prune()

    def prune(self) -> None:
        self.study.tell(self.trial, state=self._state("PRUNED"))

    def fail(self) -> None:
        self.study.tell(self.trial, state=self._state("FAIL"))

    def end(self, best: float) -> None:
        """With its best score; one that is no number is a failure."""
        if isfinite(best):
            self.study.tell(self.trial, best)
        else:
            self.fail()

    @staticmethod
    def _state(name: str) -> Any:
        import optuna

        return optuna.trial.TrialState[name]


def _drawn(trial: optuna.Trial, key: str, values: Choice | Range) -> Any:
    if isinstance(values, Choice):
        return json.loads(trial.suggest_categorical(key, [json.dumps(value) for value in values.values]))
    if values.whole:
        return trial.suggest_int(key, int(values.low), int(values.high), step=int(values.step or 1), log=values.log)
    return trial.suggest_float(key, values.low, values.high, step=values.step, log=values.log)


def _settings(params: Mapping[str, Any]) -> Settings:
    """A choice is kept as JSON, since it may be of any kind; a number of a range as it is."""
    return {key: json.loads(value) if isinstance(value, str) else value for key, value in params.items()}
