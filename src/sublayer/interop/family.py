"""A family of published models: what its config.json says and where its tensors go, as tables.

The names in a table are those of a model with a head. A file of the body alone has them without the family's prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from sublayer.errors import CheckpointError, ConfigError, listing, nearest
from sublayer.interop.fields import Field, flat, get, put, read, write
from sublayer.interop.rule import Rule, Table, Tensors, found
from sublayer.models.config import ModelConfig


@dataclass(frozen=True)
class Head:
    """What an architecture of theirs has on top of the body.

    fixed   settings of ours that it stands for
    fields  settings of theirs that are its own
    needs   a tensor that a file must hold, else it has the head `otherwise`
    unlike  … and which must not be a copy of this one
    says    settings of theirs by which their library knows it
    """

    fixed: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()
    rules: tuple[Rule, ...] = ()
    needs: str | None = None
    unlike: str | None = None
    says: Mapping[str, Any] = field(default_factory=dict)
    otherwise: Head | None = None

    def chosen(self, tensors: Tensors) -> Head:
        """This head, or the other one where the file has no tensor for it."""
        if self.otherwise is None or self.needs is None:
            return self
        held, twin = tensors.get(self.needs), tensors.get(self.unlike or "")
        copied = held is not None and twin is not None and held.equal(twin)
        return self.otherwise if held is None or copied else self


@dataclass(frozen=True)
class Family:
    """One model type of Hugging Face's.

    prefix   what stands before the body's names where there is a head
    fields   settings, theirs and ours
    fixed    settings of ours that are the same in the whole family: a dotted path and its value
    only     settings of theirs that must have this value where they are given: for others there is nothing here
    rules    the body's tensors
    heads    by the name of the architecture
    base     the architecture that is the body alone, whose file has no prefix
    ignore   tensors that carry nothing: tables that are computed here
    aliases  older endings of names and what they are called now
    """

    model_type: str
    prefix: str
    fields: tuple[Field, ...]
    fixed: Mapping[str, Any]
    only: Mapping[str, Any]
    rules: tuple[Rule, ...]
    heads: Mapping[str, Head]
    ignore: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    base: str | None = None

    def architecture(self, head: Head) -> str:
        """What theirs with such a head is called; where they have none like it, the body alone."""
        return next(
            (name for name, known in self.heads.items() if head in (known, known.otherwise)),
            self.base or next(iter(self.heads)),
        )

    def head(self, architecture: str) -> Head:
        if architecture not in self.heads:
            raise CheckpointError(
                f"config.json names the architecture {architecture!r}, which is not read here. "
                f"{nearest(architecture, self.heads)}"
            )
        return self.heads[architecture]

    def lacking(self, theirs: Mapping[str, Any]) -> list[str]:
        """Settings of theirs for which there is nothing here."""
        return [
            f"{key} is {get(theirs, key)!r}, and only {value!r} can be read"
            for key, value in self.only.items()
            if get(theirs, key, value) != value
        ]

    def config(self, theirs: Mapping[str, Any], head: Head) -> ModelConfig:
        """Ours from config.json. CheckpointError with every setting that has no counterpart."""
        if problems := self.lacking(theirs):
            raise CheckpointError(listing(f"This {self.model_type} model has what has no counterpart here:", problems))
        values: dict[str, Any] = {}
        for path, value in (*self.fixed.items(), *head.fixed.items()):
            put(values, path, value)
        for path, value in flat(read((*self.fields, *head.fields), theirs)):
            put(values, path, value)
        return ModelConfig.read(values)

    def settings(self, config: ModelConfig, head: Head, came: Mapping[str, Any]) -> dict[str, Any]:
        """config.json from ours: as it came where that still says the same.

        ConfigError with every setting that such a model cannot have.
        """
        ours = config.model_dump(mode="json")
        if came.get("model_type") == self.model_type and not self._unlike(ours, came, head):
            return {**came, **head.says}
        made = {**came, **write((*self.fields, *head.fields), ours)}
        if problems := self._unlike(ours, made, head):
            raise ConfigError(listing(f"No {self.model_type} model can be written from this one:", problems))
        return {**made, **head.says, "model_type": self.model_type}

    def _unlike(self, ours: Mapping[str, Any], theirs: Mapping[str, Any], head: Head) -> list[str]:
        """What theirs does not say as ours does. How much a head drops is ours to leave open."""
        if lacking := self.lacking(theirs):
            return lacking
        said, back = dict(flat(ours)), dict(flat(self.config(theirs, head).model_dump(mode="json")))
        paths = (*said, *sorted(back.keys() - said.keys() - {"head.dropout"}))
        return [
            f"{path} is {said.get(path)!r}, and in such a model {back.get(path)!r}"
            for path in paths
            if back.get(path) != said.get(path)
        ]

    def table(self, head: Head, config: ModelConfig) -> Table:
        """Every tensor of theirs in a model with this head; those of other heads are ignored."""
        own = {rule.theirs for rule in (*self.rules, *head.rules)}
        others = self._tops() - own
        body = "body." if head.fixed.get("head.kind", "none") != "none" else ""
        rules = Table(self.rules).under("", body) + head.rules
        rules = tuple(rule.of_heads(config.num_heads) for rule in rules)
        return Table(rules, ignore=(*self.ignore, *sorted(others)))

    def named(self, tensors: Tensors) -> dict[str, Tensor]:
        """The tensors of a file under the names of the tables."""
        renamed: dict[str, Tensor] = {}
        bare = not any(name.startswith(self.prefix) for name in tensors)
        tops = self._tops()
        for name, tensor in tensors.items():
            top = any(found(template, name) is not None for template in tops)
            full = self.prefix + name if bare and not top else name
            for old, new in self.aliases.items():
                full = full.removesuffix(old) + new if full.endswith(old) else full
            if full in renamed and not renamed[full].equal(tensor):
                raise CheckpointError(
                    f"{name} is another name of {full}, and the file has two different tensors there."
                )
            renamed[full] = tensor
        return renamed

    def _tops(self) -> set[str]:
        """Names of theirs above the body, in any of the heads."""
        heads = [one for head in self.heads.values() for one in (head, head.otherwise) if one is not None]
        return {rule.theirs for head in heads for rule in head.rules}

    def bare(self, tensors: Tensors) -> dict[str, Tensor]:
        """The other way for a file of the body alone."""
        return {name.removeprefix(self.prefix): tensor for name, tensor in tensors.items()}
