"""Tables of names, theirs and ours, read left to right for import and right to left for export."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import torch
from torch import Tensor, nn

from sublayer.errors import CheckpointError, listing
from sublayer.interop.perhead import PerHead
from sublayer.models.store import place, plain, tied

Tensors = Mapping[str, Tensor]


class Transform(Protocol):
    """How one tensor of theirs becomes tensors of ours, and how these become theirs again."""

    def split(self, theirs: Tensor) -> Sequence[Tensor]: ...

    def join(self, ours: Sequence[Tensor]) -> Tensor: ...


class Copy:
    """The same tensor."""

    def split(self, theirs: Tensor) -> Sequence[Tensor]:
        return [theirs]

    def join(self, ours: Sequence[Tensor]) -> Tensor:
        return ours[0]


@dataclass(frozen=True)
class Stacked:
    """Theirs holds `parts` of ours on top of each other, of equal height."""

    parts: int

    def split(self, theirs: Tensor) -> Sequence[Tensor]:
        return theirs.tensor_split(self.parts)

    def join(self, ours: Sequence[Tensor]) -> Tensor:
        return torch.cat(list(ours))


class Transposed:
    """Theirs lies on its side."""

    def split(self, theirs: Tensor) -> Sequence[Tensor]:
        return [theirs.t()]

    def join(self, ours: Sequence[Tensor]) -> Tensor:
        return ours[0].t()


@dataclass(frozen=True)
class TransposedStack:
    """Theirs lies on its side and holds `parts` of ours."""

    parts: int

    def split(self, theirs: Tensor) -> Sequence[Tensor]:
        return theirs.t().tensor_split(self.parts)

    def join(self, ours: Sequence[Tensor]) -> Tensor:
        return torch.cat(list(ours)).t()


class Row:
    """Theirs is one row of a table, ours the vector."""

    def split(self, theirs: Tensor) -> Sequence[Tensor]:
        return [theirs[0]]

    def join(self, ours: Sequence[Tensor]) -> Tensor:
        return ours[0][None]


COPY = Copy()
TRANSPOSED = Transposed()


@dataclass(frozen=True)
class Rule:
    """One line of a table. In the names {i} is the number of a layer and {p} is weight or bias."""

    theirs: str
    ours: str | tuple[str, ...]
    transform: Transform = COPY

    @property
    def names(self) -> tuple[str, ...]:
        return (self.ours,) if isinstance(self.ours, str) else self.ours

    def of_heads(self, heads: int) -> Rule:
        """The same for a model with so many heads."""
        return (
            replace(self, transform=PerHead(self.transform.parts, heads))
            if isinstance(self.transform, PerHead)
            else self
        )


@dataclass(frozen=True)
class Table:
    """Rules, and those of their tensors that ours has no need of (tables of positions, for example)."""

    rules: tuple[Rule, ...]
    ignore: tuple[str, ...] = ()

    def under(self, theirs: str, ours: str) -> tuple[Rule, ...]:
        """The rules for a module that stands below these prefixes."""
        return tuple(
            Rule(theirs + rule.theirs, tuple(ours + name for name in rule.names), rule.transform) for rule in self.rules
        )

    def knows(self, ours: str) -> bool:
        """Whether a tensor of ours has a place there."""
        return any(found(name, ours) is not None for rule in self.rules for name in rule.names)

    def needed(self, theirs: Tensors) -> dict[str, Tensor]:
        """Their tensors without the ignored ones."""
        return {
            name: tensor
            for name, tensor in theirs.items()
            if all(found(template, name) is None for template in self.ignore)
        }


def convert(table: Table, theirs: Tensors) -> dict[str, Tensor]:
    """Their tensors under our names. CheckpointError with every tensor that no rule knows."""
    ours: dict[str, Tensor] = {}
    left = table.needed(theirs)
    for rule in table.rules:
        for name, values in _all(rule.theirs, theirs):
            names = [part.format(**values) for part in rule.names]
            ours.update(zip(names, rule.transform.split(theirs[name]), strict=True))
            left.pop(name)
    if left:
        raise CheckpointError(listing("These tensors have no counterpart here:", _shapes("not known", left)))
    return ours


def invert(table: Table, ours: Tensors) -> dict[str, Tensor]:
    """Our tensors under their names. CheckpointError with every tensor that has no place there."""
    theirs: dict[str, Tensor] = {}
    left = dict(ours)
    for rule in table.rules:
        for _, values in _all(rule.names[0], ours):
            names = [part.format(**values) for part in rule.names]
            if all(name in left for name in names):
                parts = [left.pop(name) for name in names]
                theirs[rule.theirs.format(**values)] = rule.transform.join(parts)
    if left:
        raise CheckpointError(listing("These tensors have no counterpart there:", _shapes("not known", left)))
    return theirs


def load(model: nn.Module, table: Table, theirs: Tensors, origin: str = "The other model") -> None:
    """Copy their tensors into our model; of those that are tied here, any one will do.

    CheckpointError, in their names, with every leftover, hole and wrong shape; the model then stays as it was.
    """
    twins = {name for names in tied(model) for name in names[1:] if not table.knows(name)}
    state = {plain(name): x.to("meta") for name, x in model.state_dict().items()}
    wanted = invert(table, {name: x for name, x in state.items() if name not in twins})
    given = table.needed(theirs)
    here = convert(table, {name: x for name, x in given.items() if name in wanted}).keys()
    held = {name for names in tied(model) if not here.isdisjoint(names) for name in names}
    absent = {name: x for name, x in wanted.items() if name not in given}
    problems = _shapes(
        "missing", {name: x for name, x in absent.items() if not convert(table, {name: x}).keys() <= held}
    )
    problems += _shapes("not used", {name: x for name, x in given.items() if name not in wanted})
    problems += [
        f"shape: {name} is {tuple(given[name].shape)}, expected {tuple(x.shape)}"
        for name, x in wanted.items()
        if name in given and given[name].shape != x.shape
    ]
    if problems:
        raise CheckpointError(listing(f"{origin} does not fit the model:", problems))
    place(model, convert(table, given), origin)


def _shapes(problem: str, tensors: Tensors) -> list[str]:
    return [f"{problem}: {name} {tuple(tensor.shape)}" for name, tensor in tensors.items()]


def _all(template: str, tensors: Tensors) -> list[tuple[str, dict[str, str]]]:
    pairs = ((name, found(template, name)) for name in tensors)
    return [(name, values) for name, values in pairs if values is not None]


def found(template: str, name: str) -> dict[str, str] | None:
    """What {i} and {p} stand for in this name; None where the template means another."""
    match = _pattern(template).fullmatch(name)
    return None if match is None else match.groupdict()


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.escape(template).replace(r"\{i\}", r"(?P<i>\d+)").replace(r"\{p\}", "(?P<p>weight|bias)"))
