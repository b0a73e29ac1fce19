"""How much a server takes on."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sublayer.errors import ConfigError, listing, nearest


class Limits(BaseModel):
    """What goes beyond one of these is refused, with what to do instead; lengths in tokens count the end token."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    waiting: int = Field(256, ge=1, description="texts that wait for a model; more get 503 and Retry-After")
    together: int = Field(64, ge=1, description="texts that a model answers together")
    batch_tokens: int = Field(4096, ge=1, description="hypotheses · longest text of those")
    texts: int = Field(64, ge=1, description="texts of a request")
    characters: int = Field(20_000, ge=1, description="of a text")
    tokens: int = Field(512, ge=2, description="of a text")
    hypotheses: int = Field(32, ge=1, description="of a text, side by side: beam · groups, or answers that are drawn")
    written: int = Field(16_384, ge=1, description="hypotheses of a text · tokens that an answer may have")
    pictured: int = Field(128, ge=2, description="tokens of either side of an attention picture")
    body: int = Field(2**20, ge=1, description="bytes of a request")
    requests: int = Field(512, ge=1, description="requests in hand; more get 503 and Retry-After")
    connections: int = Field(1024, ge=1, description="that are open; requests on more get 503 and Retry-After")
    reading: float = Field(10.0, gt=0, description="seconds for a request to arrive")
    patience: float = Field(30.0, gt=0, description="seconds that a text waits for its turn; then 503 and Retry-After")
    sending: float = Field(30.0, gt=0, description="seconds without a reader before a connection is cut")
    finishing: int = Field(30, ge=1, description="seconds for the requests in hand once the server is to end")


def read_limits(settings: Sequence[str]) -> Limits:
    """From `name=value`, the others as they are. ConfigError with all that is wrong."""
    values = dict(setting.partition("=")[::2] for setting in settings)
    try:
        return Limits.model_validate(values)
    except ValidationError as error:
        problems = []
        for found in error.errors():
            name = str(found["loc"][0])
            known = name in Limits.model_fields
            problems.append(f"{name}: {found['msg']}" if known else f"{name}: {nearest(name, Limits.model_fields)}")
        raise ConfigError(listing("--limit:", problems)) from None
