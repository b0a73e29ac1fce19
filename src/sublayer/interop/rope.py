"""How rotary positions are scaled: `rope_parameters`, formerly `rope_scaling`."""

from collections.abc import Mapping
from typing import Any

from sublayer.errors import ConfigError

SCALINGS: dict[str, tuple[str, dict[str, str]]] = {
    "default": ("rotary", {}),
    "linear": ("rotary-linear", {"factor": "factor"}),
    "llama3": (
        "rotary-llama3",
        {
            "factor": "factor",
            "low_freq_factor": "low",
            "high_freq_factor": "high",
            "original_max_position_embeddings": "original",
        },
    ),
}
"""Their type: our kind, and settings, theirs and ours."""
CURES = {
    "dynamic": "Up to max_position_embeddings it changes nothing: where your texts are no longer, write 'default'",
    "yarn": "A model trained with it needs it: there is none of it here",
    "longrope": "A model trained with it needs it: there is none of it here",
}
ELSEWHERE = ("rope_type", "type", "rope_theta")


class Rope:
    """A codec of the whole section, rope_theta apart."""

    def read(self, theirs: Mapping[str, Any]) -> dict[str, Any]:
        kind = str(theirs.get("rope_type", theirs.get("type", "default")))
        if kind not in SCALINGS:
            cure = CURES.get(kind, "")
            raise ConfigError(f"is of the type {kind!r}, and {', '.join(SCALINGS)} can be read. {cure}".rstrip())
        ours, names = SCALINGS[kind]
        given = {name: value for name, value in theirs.items() if name not in ELSEWHERE and value is not None}
        if kind == "default":  # transformers writes what other types would need
            given = {name: value for name, value in given.items() if name == "partial_rotary_factor" and value != 1.0}
        if missing := [name for name in names if name not in given]:
            raise ConfigError(f"is of the type {kind!r} and lacks {', '.join(missing)}")
        if unknown := [f"{name}={value!r}" for name, value in given.items() if name not in names]:
            raise ConfigError(f"has {', '.join(unknown)}, which has no counterpart here")
        return {"kind": ours, **{names[name]: value for name, value in given.items()}}

    def write(self, ours: Mapping[str, Any]) -> dict[str, Any]:
        for kind, (name, options) in SCALINGS.items():
            if ours["kind"] == name:
                return {"rope_type": kind, **{theirs: ours[option] for theirs, option in options.items()}}
        raise ConfigError(f"cannot be {ours['kind']!r} there")
