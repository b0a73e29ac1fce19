"""What a search may try: a YAML file of recipe keys, as `--set` spells them, each with a list of choices or a range."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import StrictFloat, StrictInt, ValidationError, model_validator

from sublayer.errors import ConfigError, listing
from sublayer.tasks.recipe_file import override, parse, read_yaml, recipe_of, told
from sublayer.tasks.sections import PUBLISHED, SIZES, Section

COMPARED_BY = ("task", "data.valid", "train.metric")
PLAIN = re.compile(r"[\w./-]+")  # text that no shell reads otherwise
INSIDE = 0.381966  # of the way through a range: a number that is not whole by chance


@dataclass(frozen=True)
class Choice:
    """One of these values."""

    values: tuple[Any, ...]

    @property
    def ends(self) -> tuple[Any, ...]:
        return self.values

    @property
    def inside(self) -> tuple[Any, ...]:
        return ()


class Range(Section):
    """A number from low to high, both included. Whole ones where all three numbers are; equally likely by its logarithm
    where `log` says so."""

    low: StrictInt | StrictFloat
    high: StrictInt | StrictFloat
    log: bool = False
    step: StrictInt | StrictFloat | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Range:
        if self.low >= self.high:
            raise ValueError(f"low is {self.low:g} and high is {self.high:g}: low has to be less")
        if self.log and self.low <= 0:
            raise ValueError(f"log needs a low above 0, not {self.low:g}")
        if self.step is not None and self.step <= 0:
            raise ValueError(f"step has to be above 0, not {self.step:g}")
        if self.log and self.step is not None and not (self.whole and self.step == 1):
            raise ValueError("with log the only step is 1, of whole numbers")
        if self.step is not None and (_exact(self.high) - _exact(self.low)) % _exact(self.step):
            raise ValueError(f"high is not reached from {self.low:g} in steps of {self.step:g}")
        return self

    @property
    def whole(self) -> bool:
        return all(isinstance(number, int) for number in (self.low, self.high, self.step))

    @property
    def ends(self) -> tuple[Any, ...]:
        return self.low, self.high

    @property
    def inside(self) -> tuple[Any, ...]:
        """What stands for all between the ends, where it is asked what a recipe may say."""
        return (self.low + (INSIDE * (self.high - self.low) if self.step is None else self.step),)


Space = Mapping[str, Choice | Range]
Settings = Mapping[str, Any]


def read_space(path: Path, recipe: Mapping[str, Any]) -> Space:
    """The space of a file, for a recipe of these plain values. ConfigError lists every problem of both together."""
    space: dict[str, Choice | Range] = {}
    problems: list[str] = []
    for key, drawn in ((str(key), drawn) for key, drawn in read_yaml(path).items()):
        try:
            space[key] = Choice(tuple(drawn)) if isinstance(drawn, list) and drawn else Range.model_validate(drawn)
        except ValidationError as error:
            problems += dict.fromkeys(_told(key, drawn, each) for each in error.errors())
        if key in COMPARED_BY:
            problems.append(f"{key}: trials are compared by it, so it stays the same: set it in the recipe")
            space.pop(key, None)
    for key, found in space.items():
        problems += _wrong(key, found.ends, recipe) or _wrong(key, found.inside, recipe)
    if problems or not space:
        example = "train.learning_rate: {low: 1e-4, high: 1e-2, log: true}"
        raise ConfigError(listing(f"{path}:", problems or [f"there is no key in it: write for example {example}"]))
    return space


def words(settings: Settings) -> list[str]:
    """Settings as `section.key=value`."""
    return [f"{key}={_spelt(value)}" for key, value in settings.items()]


def options(settings: Settings) -> str:
    """The same as options of `train`, for a shell."""
    return " ".join(f"--set {shlex.quote(word)}" for word in words(settings))


def _spelt(value: Any) -> str:
    plain = isinstance(value, str) and PLAIN.fullmatch(value) and parse(value, value) == value
    return value if plain else json.dumps(value, ensure_ascii=False)


def _exact(number: float | None) -> Decimal:
    return Decimal(str(number))


def _told(key: str, drawn: Any, error: Any) -> str:
    if not isinstance(drawn, dict):
        return f"{key}: a list of choices, or {{low: …, high: …}}, is needed, not {drawn!r}"
    place = ".".join([key, *(str(part) for part in error["loc"][:1])])
    if error["type"] == "extra_forbidden":
        return f"{place}: a range has low, high, log and step"
    if error["type"] in ("int_type", "float_type"):
        return f"{place}: a number is needed, not {error['input']!r}"
    came = "" if error["type"] in ("value_error", "missing") else f" (got {error['input']!r})"
    return f"{place}: {error['msg'].removeprefix('Value error, ')}{came}"


def _wrong(key: str, values: tuple[Any, ...], recipe: Mapping[str, Any]) -> list[str]:
    """What is wrong with any of these values of the key, whatever the other keys say."""
    return list(dict.fromkeys(problem for value in values for problem in _told_of(key, value, recipe)))


def _told_of(key: str, value: Any, recipe: Mapping[str, Any]) -> list[str]:
    values = deepcopy(dict(recipe))
    try:
        override(values, *words({key: value}))
    except ConfigError:
        return [f"{key}: there is no such key: sections and a key, joined by dots, are needed"]
    kind = recipe_of(values.get("task", "translate"), key)
    try:
        kind.model_validate(values)
    except ValidationError as error:
        about = [each for each in error.errors() if _is_about(key, each)]
        if any(each["type"] == "int_from_float" for each in about):
            return [f"{key}: it is a whole number: write whole numbers, with step: 1 where they are a range"]
        return [told(each, kind) for each in about]
    return []


def _is_about(key: str, error: Any) -> bool:
    """What is told of a whole section may be right with other values of other keys."""
    place = [str(part) for part in error["loc"] if part not in (SIZES, PUBLISHED)]
    path = key.split(".")
    shared = min(len(place), len(path))
    return place[:shared] == path[:shared] and (shared == len(path) or error["type"] != "value_error")
