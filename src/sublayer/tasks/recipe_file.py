"""Recipes as files: YAML 1.2, every problem at once, with file, key and the nearest valid one."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from sublayer.errors import ConfigError, listing, nearest
from sublayer.models.config import ModelConfig
from sublayer.models.files import write_text
from sublayer.tasks.recipes import RECIPES
from sublayer.tasks.sections import PUBLISHED, SIZES, AnyRecipe, Published


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core schema: 1e-3 is a number, no and on are words, 12:30 is text."""


_Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+0123456789.",
    ),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first))


def _whole(loader: _Loader, node: yaml.ScalarNode) -> int:
    """017 is seventeen; only 0o17 is octal."""
    text = loader.construct_scalar(node)
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


_Loader.add_constructor("tag:yaml.org,2002:int", _whole)


def parse(text: str, origin: str) -> Any:
    """Plain values from YAML; ConfigError naming the origin."""
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ConfigError(f"{origin} is not YAML: {error}") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """The plain values of a recipe file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be read as a recipe: {reason}") from None
    values = parse(text, str(path)) or {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: a recipe is sections with keys, not {type(values).__name__}.")
    return values


def read_recipe(path: Path, overrides: Sequence[str] = ()) -> Any:
    """A recipe from a file, changed by `section.key=value` overrides."""
    return make_recipe(read_yaml(path), overrides, origin=str(path))


def make_recipe(values: dict[str, Any], overrides: Sequence[str] = (), *, origin: str) -> Any:
    """The recipe of the task that the plain values name. ConfigError lists every problem."""
    for change in overrides:
        override(values, change)
    recipe = recipe_of(values.get("task", "translate"), origin)
    try:
        return recipe.model_validate(values)
    except ValidationError as error:
        raise ConfigError(listing(f"{origin}:", [told(e, recipe) for e in error.errors()])) from None


def recipe_of(task: Any, origin: str) -> type[AnyRecipe]:
    """What a recipe of this task may say. ConfigError for a task that there is not."""
    if not isinstance(task, str) or task not in RECIPES:
        problem = f"task: there is no task {task!r}. {nearest(str(task), RECIPES)}"
        raise ConfigError(listing(f"{origin}:", [problem]))
    return RECIPES[task]


def differences(asked: AnyRecipe, held: AnyRecipe) -> list[str]:
    """The keys that `asked` sets to something else than `held` has; what it leaves open or `auto` differs nowhere."""
    wanted = dict(_flat(asked.model_dump(mode="json", exclude_unset=True), ()))
    there = dict(_flat(held.model_dump(mode="json"), ()))
    return [
        f"{key}: {value!r}, and {there.get(key)!r} in the run"
        for key, value in wanted.items()
        if value not in ("auto", there.get(key))
    ]


def _flat(values: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            value = {str(number): one for number, one in enumerate(value, 1)}
        if isinstance(value, dict):
            yield from _flat(value, (*path, name))
        else:
            yield ".".join((*path, name)), value


def write_recipe(recipe: AnyRecipe, path: Path) -> None:
    """The whole recipe, so that it can be read back as it is."""
    values = recipe.model_dump(mode="json", exclude_none=True)
    write_text(path, yaml.safe_dump(values, sort_keys=False, allow_unicode=True))


def override(values: dict[str, Any], change: str) -> None:
    """Put what `section.key=value` says into plain values. ConfigError where that says nothing, or names no section."""
    key, equals, value = change.partition("=")
    if not equals:
        raise ConfigError(f"--set {change!r}: write section.key=value, for example train.steps=500.")
    *path, last = key.strip().split(".")
    at = values
    for name in path:
        if at.get(name) is None:
            at[name] = {}
        at = at[name]
        if not isinstance(at, dict):
            raise ConfigError(f"--set {change!r}: {name!r} is no section.")
    at[last] = parse(value, f"--set {key}")


def told(error: Any, recipe: type[AnyRecipe]) -> str:
    """One problem: key, what is wrong, what came, and for an unknown key where it belongs."""
    place = [str(part) for part in error["loc"] if part not in (SIZES, PUBLISHED)]
    key = ".".join(place) or "recipe"
    if error["type"] == "extra_forbidden" and PUBLISHED in error["loc"]:
        if place[-1] in ModelConfig.model_fields:
            return f"{key}: a published checkpoint has its own sizes and parts: leave {place[-1]} out, or model.from."
        known = [field.alias or name for name, field in Published.model_fields.items()]
        return f"{key}: there is no such key. {nearest(place[-1], known)}"
    if error["type"] == "extra_forbidden":
        return f"{key}: there is no such key. {_where(place, recipe)}"
    if error["type"] in ("model_type", "model_attributes_type"):
        return f"{key}: a section with keys is needed, not {error['input']!r}."
    message = error["msg"].removeprefix("Value error, ")
    came = "" if error["type"] == "value_error" else f" (got {error['input']!r})"
    return f"{key}: {message}{came}"


def _where(place: list[str], recipe: type[AnyRecipe]) -> str:
    """The section where this very key is known, the tasks that know it in this one, or the nearest key. What is a whole
    section of other tasks is meant as such, even where a section has a key of that name."""
    homes = [f"{section}.{key}" for section, key in _keys(recipe, ()) if key == place[-1]]
    tasks = [task for task, other in RECIPES.items() if _knows(other, place)]
    if tasks and (len(place) == 1 or not homes):
        return f"It belongs to task {' or '.join(tasks)}."
    if homes:
        return f"Did you mean {' or '.join(homes)}?"
    section: type[BaseModel] = recipe
    for name in place[:-1]:
        section = _section(section, name) or section
    return nearest(place[-1], section.model_fields)


def _knows(recipe: type[AnyRecipe], place: list[str]) -> bool:
    section: type[BaseModel] | None = recipe
    for name in place[:-1]:
        section = None if section is None else _section(section, name)
    return section is not None and place[-1] in section.model_fields


def _section(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    field = model.model_fields.get(name)
    return None if field is None else next(_models(field.annotation), None)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _models(inner)


def _keys(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in model.model_fields:
        inner = _section(model, name)
        if inner is not None and inner.__name__ != "Part":
            yield from _keys(inner, (*path, name))
        elif path:
            yield ".".join(path), name
