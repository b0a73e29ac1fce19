"""Which parameters of a model learn, and how fast."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from torch import nn

from sublayer.errors import ConfigError, nearest

LAYER = re.compile(r"(?:^|\.)(encoder|decoder)\.layers\.(\d+)\.")
FIRST = re.compile(r"layers:(\d+)")
EMBEDDINGS = "embeddings"


def freeze(model: nn.Module, parts: Sequence[str]) -> None:
    """Keep these as they are: `embeddings`, `layers:K` for the first K of each stack, or a glob over names.

    ConfigError for a part that there is not, and where nothing is left to learn.
    """
    named = dict(model.named_parameters())
    for part in parts:
        fits = [name for name in named if _is_of(name, part)]
        if not fits:
            known = [EMBEDDINGS, "layers:1", *sorted({name.rpartition(".")[0] + ".*" for name in named})]
            raise ConfigError(f"train.freeze: no parameter is of {part!r}. {nearest(part, known)}")
        for name in fits:
            named[name].requires_grad_(False)
    if parts and not any(p.requires_grad for p in named.values()):
        raise ConfigError("train.freeze leaves nothing to learn: name less.")


def _is_of(name: str, part: str) -> bool:
    layer, first = LAYER.search(name), FIRST.fullmatch(part)
    if part == EMBEDDINGS:
        return _embeds(name)
    if first is not None:
        return layer is not None and int(layer[2]) < int(first[1])
    return fnmatchcase(name, part)


def _embeds(name: str) -> bool:
    return any(step in ("embed", "source_embed", "target_embed") for step in name.split("."))


def slower(model: nn.Module, decay: float) -> dict[str, float]:
    """What the rate of each parameter is multiplied by: 1 above the layers, `decay` in the last layer of each stack,
    and once more in each layer below, embeddings being the lowest. Howard and Ruder 2018, section 3.2."""
    names = [name for name, _ in model.named_parameters()]
    deepest: dict[str, int] = {}
    for name in names:
        if layer := LAYER.search(name):
            deepest[layer[1]] = max(deepest.get(layer[1], 0), int(layer[2]) + 1)
    scales = {}
    for name in names:
        layer = LAYER.search(name)
        steps = deepest[layer[1]] - int(layer[2]) if layer else max(deepest.values(), default=0) + 1
        scales[name] = decay**steps if layer or _embeds(name) else 1.0
    return scales


def grouped(model: nn.Module, weight_decay: float, layer_decay: float) -> list[dict[str, Any]]:
    """The parameters that learn, in groups of one rate each. Matrices decay; norms and biases do not. A group's `scale`
    is what its rate is multiplied by."""
    scales = slower(model, layer_decay)
    found: dict[tuple[float, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            found.setdefault((-scales[name], parameter.dim() <= 1), []).append(parameter)
    return [
        {"params": found[key], "weight_decay": 0.0 if key[1] else weight_decay, "scale": -key[0]}
        for key in sorted(found)
    ]
