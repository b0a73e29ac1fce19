"""The settings of a model of theirs and of `ModelConfig`, as a table read in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sublayer.errors import ConfigError, listing, nearest

ABSENT = object()
"""Nothing is written."""


class Codec(Protocol):
    """How a value of theirs becomes one of ours, and how this, or ABSENT, becomes theirs again."""

    def read(self, theirs: Any) -> Any: ...

    def write(self, ours: Any) -> Any: ...


class Same:
    """The same value."""

    def read(self, theirs: Any) -> Any:
        return theirs

    def write(self, ours: Any) -> Any:
        return ABSENT if ours is None else ours


@dataclass(frozen=True)
class Named:
    """Values that have other names there; of several that mean the same here, the first is written."""

    ours_of: Mapping[Any, Any]

    def read(self, theirs: Any) -> Any:
        if theirs not in self.ours_of:
            raise ConfigError(f"is {theirs!r}. {nearest(str(theirs), map(str, self.ours_of))}")
        return self.ours_of[theirs]

    def write(self, ours: Any) -> Any:
        found = [name for name, value in self.ours_of.items() if value == ours]
        if not found and ours is None:
            return ABSENT
        if not found:
            raise ConfigError(f"cannot be {ours!r} there. {nearest(str(ours), map(str, self.ours_of.values()))}")
        return found[0]


@dataclass(frozen=True)
class Less:
    """Theirs counts `n` more than ours does."""

    n: int

    def read(self, theirs: Any) -> Any:
        return theirs - self.n

    def write(self, ours: Any) -> Any:
        return ours + self.n


class Labels:
    """Theirs is a dictionary from numbers to labels, ours says how many there are."""

    def read(self, theirs: Any) -> Any:
        return len(theirs)

    def write(self, ours: Any) -> Any:
        return ABSENT if ours is None else {str(i): f"LABEL_{i}" for i in range(ours)}


class Window:
    """Theirs counts the positions that are seen, its own among them; ours is how far away may be seen."""

    def read(self, theirs: Any) -> Any:
        return {"kind": "local", "window": theirs - 1}

    def write(self, ours: Any) -> Any:
        return ours["window"] + 1 if ours["kind"] == "local" else None


class Half:
    """Theirs counts both sides of a window, ours one."""

    def read(self, theirs: Any) -> Any:
        return theirs // 2

    def write(self, ours: Any) -> Any:
        return ABSENT if ours is None else 2 * ours


class Each:
    """Theirs lists the types of the layers, ours says that every n-th sees the whole text, as theirs did formerly."""

    def read(self, theirs: Any) -> Any:
        if isinstance(theirs, int):
            return theirs
        wide = [i for i, kind in enumerate(theirs) if kind == "full_attention"]
        every = wide[1] if len(wide) > 1 else len(theirs)
        if wide != list(range(0, len(theirs), every)):
            raise ConfigError(f"is {theirs!r}: layers that see the whole text must stand at equal distances from 0 on.")
        return every

    def write(self, ours: Any) -> Any:
        return ABSENT if ours is None else ours


SAME = Same()
ACTIVATION = Named(
    {
        "gelu": "gelu",
        "gelu_new": "gelu_tanh",
        "gelu_pytorch_tanh": "gelu_tanh",
        "gelu_fast": "gelu_tanh",
        "relu": "relu",
        "silu": "silu",
        "swish": "silu",
        "tanh": "tanh",
        "sigmoid": "sigmoid",
    }
)
SCALED = Named({False: 1.0, True: None})  # token vectors by √d_model, which is our default
TIED = Named({True: "target", False: "none"})


@dataclass(frozen=True)
class Field:
    """One line of a table.

    theirs   a setting of config.json; a dot leads inside
    ours     a setting of `ModelConfig`; a dot leads into a part: `norm.eps`
    default  what their library takes where config.json does not say; None leaves ours at its own default
    older    where theirs stood in former versions
    written  whether it is written there too, because the newer form needs more than ours says
    """

    theirs: str
    ours: str
    default: Any = None
    codec: Codec = SAME
    older: str | None = None
    written: bool = False

    def value(self, theirs: Mapping[str, Any]) -> Any:
        former = self.default if self.older is None else get(theirs, self.older, self.default)
        return get(theirs, self.theirs, former)


def read(fields: Sequence[Field], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Ours from theirs, nested. ConfigError with every value that has no counterpart."""
    ours: dict[str, Any] = {}
    said: dict[str, Field] = {}
    problems = []
    for field in fields:
        value = field.value(theirs)
        if value is None:
            continue
        try:
            made = field.codec.read(value)
        except ConfigError as error:
            problems.append(f"{field.theirs} {error}")
            continue
        other = said.setdefault(field.ours, field)
        if other.theirs != field.theirs and get(ours, field.ours) != made:
            problems.append(f"{other.theirs} and {field.theirs} differ, and there is one setting for both")
        put(ours, field.ours, made)
    if problems:
        raise ConfigError(listing("Settings that have no counterpart here:", problems))
    return ours


def write(fields: Sequence[Field], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Theirs from ours, nested as a dumped config is. ConfigError with every value that has no counterpart."""
    theirs: dict[str, Any] = {}
    problems = []
    for field in fields:
        try:
            value = field.codec.write(get(ours, field.ours))
            if value is not ABSENT:
                put(theirs, field.older if field.written and field.older else field.theirs, value)
        except ConfigError as error:
            problems.append(f"{field.ours} {error}")
    if problems:
        raise ConfigError(listing("Settings that have no counterpart there:", problems))
    return theirs


def get(values: Mapping[str, Any], path: str, default: Any = None) -> Any:
    """What stands at `norm.eps`."""
    found: Any = values
    for key in path.split("."):
        if not isinstance(found, Mapping) or key not in found:
            return default
        found = found[key]
    return found


def put(values: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at `norm.eps`."""
    *outer, last = path.split(".")
    for key in outer:
        values = values.setdefault(key, {})
    values[last] = value


def flat(values: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    """Nested values as (path, value)."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value
