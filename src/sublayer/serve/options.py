"""What a request may set: the settings of a task, none of them required, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model
from pydantic.fields import FieldInfo

LARGEST = 2**31 - 1
STEEPEST = 10.0
PHRASES, PHRASE = 32, 200

Phrase = Annotated[str, StringConstraints(max_length=PHRASE)]
BOUNDS: dict[Any, tuple[Any, ...]] = {
    int: (int, Le(LARGEST)),
    float: (float, Ge(-STEEPEST), Le(STEEPEST), Field(allow_inf_nan=False)),
    str: (Phrase,),
    list[str]: (list[Phrase], Field(max_length=PHRASES)),
}


def options_of(settings: type[BaseModel], without: Sequence[str] = (), **switches: str) -> type[BaseModel]:
    """A record with the fields of `settings`, all None at first. Numbers and phrases have an end: what an answer may
    cost must not be for a stranger to say.

    without   fields that make no sense in a request
    switches  more of them, true or false, and what each is for
    """
    fields: dict[str, Any] = {
        name: (_bounded(f), None) for name, f in settings.model_fields.items() if name not in without
    }
    fields |= {name: (bool | None, Field(None, description=about)) for name, about in switches.items()}
    return create_model("Options", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def _bounded(field: FieldInfo) -> Any:
    kind, *bounds = BOUNDS.get(field.annotation, (field.annotation,))
    annotated: Any = Annotated
    bounded = annotated[(kind, *field.metadata, *bounds)] if field.metadata or bounds else kind
    return annotated[bounded | None, Field(description=field.description)]
