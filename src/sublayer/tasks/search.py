"""How answers are looked for. Reading the settings needs no torch."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sublayer.errors import CheckpointError


class Search(BaseModel):
    """Greedy search, a beam, several beams that differ, or sampling; lengths count tokens with EOS."""

    model_config = ConfigDict(extra="forbid", validate_default=True)

    beam: int = Field(1, ge=1, description="hypotheses side by side; 1 is greedy")
    nbest: int = Field(1, ge=1, description="answers a line")
    length_penalty: float = Field(0.6, description="alpha; 0 compares plain sums")
    length_rule: Literal["gnmt", "power"] = Field("gnmt", description="logp / ((5+n)/6)^alpha or logp / n^alpha")
    stop: Literal["exact", "early"] = "exact"
    max_ratio: float = Field(2.0, ge=0, description="longest answer: max_ratio · source tokens + max_extra")
    max_extra: int = Field(20, ge=1)
    min_ratio: float = Field(0.0, ge=0, description="shortest answer: min_ratio · source tokens, or min_length")
    min_length: int = Field(0, ge=0)

    groups: int = Field(1, ge=1, description="beams that differ, each `beam` wide; the best of each is an answer")
    diversity: float = Field(0.5, ge=0, description="what a token costs for each group that has just come to it")

    temperature: float = Field(0.0, ge=0, description="above 0: tokens are drawn from p^(1/temperature)")
    top_k: int = Field(0, ge=0, description="draw from the k likeliest tokens; 0: all")
    top_p: float = Field(1.0, gt=0, le=1, description="draw from the likeliest tokens that have p together")
    min_p: float = Field(0.0, ge=0, le=1, description="draw from tokens at least p times as likely as the likeliest")
    seed: int = Field(1, ge=0, description="of drawing; a line's draws depend on it and on the line alone")

    repetition_penalty: float = Field(1.0, gt=0, description="log-probabilities of tokens that came before, times this")
    no_repeat: int = Field(0, ge=0, description="no n tokens in a row come twice; 0: they may")
    forbid: list[str] = Field(default_factory=list, description="phrases that do not come")
    require: list[str] = Field(default_factory=list, description="phrases that come")
    prefix: str = Field("", description="what every answer begins with")
    stop_strings: list[str] = Field(default_factory=list, description="an answer ends before the first of them")
    replace_unknown: bool = Field(
        False, description="unknown words may come, and read as the source words they align with"
    )

    @model_validator(mode="after")
    def _together(self) -> Search:
        if problems := self._problems():
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> list[str]:
        found = []
        if self.temperature:
            if self.beam > 1 or self.groups > 1:
                found.append("drawing (temperature above 0) has no beam: leave beam and groups at 1")
        else:
            kept = [name for name in ("top_k", "top_p", "min_p") if getattr(self, name) != _default(name)]
            if kept:
                found.append(f"{', '.join(kept)} choose what is drawn from: set a temperature above 0, for example 1")
            widest, name = (self.groups, "groups") if self.groups > 1 else (self.beam, "beam")
            if self.nbest > widest:
                more = "raise it" if self.groups > 1 else "widen the beam"
                found.append(f"nbest={self.nbest} is more than {name}={widest} can give: {more}")
        if "" in (*self.forbid, *self.require, *self.stop_strings):
            found.append("an empty phrase stands in every text: leave it out")
        return found

    @property
    def rows(self) -> int:
        """How many hypotheses of a line are decoded side by side."""
        return self.nbest if self.temperature else self.beam * self.groups

    def beyond_a_beam(self) -> list[str]:
        """The settings that ask for more than greedy search or a beam."""
        return [name for name in BEYOND_A_BEAM if getattr(self, name) != _default(name)]


BEYOND_A_BEAM = (
    "min_ratio",
    "min_length",
    "groups",
    "temperature",
    "repetition_penalty",
    "no_repeat",
    "forbid",
    "require",
    "prefix",
    "stop_strings",
    "replace_unknown",
)


def _default(name: str) -> object:
    return Search.model_fields[name].get_default(call_default_factory=True)


def read_search(values: Any, origin: str) -> Search:
    """The settings that a run folder holds; CheckpointError names the file."""
    try:
        return Search.model_validate(values)
    except ValidationError as error:
        raise CheckpointError(f"{origin}: search: {error.errors()[0]['msg']}.") from None
