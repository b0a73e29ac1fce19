"""What requests and refusals look like, and their description."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from sublayer.serve.door import Door


def _text(given: str) -> str:
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair, which UTF-8 cannot hold") from None
    return given


Utf8 = Annotated[str, AfterValidator(_text)]


class Asked(BaseModel):
    """What every question says."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: Utf8 | None = Field(None, description="which; not needed where one is served")


class Texts(Asked):
    texts: list[Utf8] = Field(min_length=1, description="an answer each, in this order")
    options: dict[str, Any] = Field(default_factory=dict)


class Text(Asked):
    text: Utf8
    options: dict[str, Any] = Field(default_factory=dict)


class Pair(Asked):
    text: Utf8
    target: Utf8 | None = Field(None, description="an answer; the model's own where it is left out")


class Problem(BaseModel):
    at: str
    problem: str


class Problems(BaseModel):
    error: str
    problems: list[Problem]


def describe(schema: dict[str, Any], served: Iterable[Door]) -> None:
    """Put the options and the answers of the tasks that are served into the description."""
    parts = schema["components"]["schemas"]
    doors = {door.task: door for door in served}.values()
    options = [door.options.model_json_schema() for door in doors]
    for name in ("Texts", "Text"):
        parts[name]["properties"]["options"] = {"anyOf": options, "description": "over the run's settings"}
    answers = [TypeAdapter(door.answers).json_schema(ref_template="#/components/schemas/{model}") for door in doors]
    for found in answers:
        parts.update(found.pop("$defs", {}))
    each = {"model": {"type": "string"}, "answers": {"type": "array", "items": {"anyOf": answers}}}
    whole = {"type": "object", "properties": each, "required": ["model", "answers"]}
    schema["paths"]["/predict"]["post"]["responses"]["200"]["content"]["application/json"]["schema"] = whole
