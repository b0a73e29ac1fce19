"""Parts by name: what a recipe may say under `kind:`."""

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from sublayer.errors import ConfigError, nearest
from sublayer.models.config import Part
from sublayer.nn import GEGLU, GLU, Eager, FeedForward, Fused, LayerNorm, Linear, Local, RMSNorm, SwiGLU

Factory = Callable[..., Any]

NORMS: dict[str, Factory] = {"layernorm": LayerNorm, "rmsnorm": RMSNorm}
FEEDFORWARDS: dict[str, Factory] = {"feedforward": FeedForward, "glu": GLU, "geglu": GEGLU, "swiglu": SwiGLU}
KERNELS: dict[str, Factory] = {"fused": Fused, "eager": Eager, "local": Local, "linear": Linear}
OF_SELF_ATTENTION = ("local", "linear")
"""Kernels for one long sequence: cross-attention, which reads another, keeps the default."""


def factory(what: str, part: Part, known: dict[str, Factory]) -> Factory:
    """The class that `part` names, with its options filled in.

    ConfigError for an unknown name, a module that cannot be imported, or an option that the class does not take.
    """
    made = known[part.kind] if part.kind in known else _own(what, part.kind, known)
    takes = inspect.signature(made).parameters
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in takes.values())
    for option in part.options:
        if option not in takes and not open_ended:
            raise ConfigError(f"{what}: {part.kind!r} takes no {option!r}. {nearest(option, takes)}")
    return partial(made, **part.options)


def _own(what: str, kind: str, known: dict[str, Factory]) -> Factory:
    module, colon, name = kind.partition(":")
    if not colon:
        raise ConfigError(
            f"{what}: kind {kind!r} is unknown. {nearest(kind, known)} For your own: package.module:Class."
        )
    try:
        found: Factory = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{what}: {kind!r} cannot be imported ({error}). Is it on the Python path?") from None
    return found
