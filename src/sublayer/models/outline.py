"""A model with shapes and without numbers, to be given those of a file."""

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from sublayer.models.build import Model, build
from sublayer.models.config import ModelConfig

FILLS = {"normal_", "uniform_", "fill_", "zero_"}


class _Unfilled(TorchFunctionMode):
    """Leaves tensors as they are where they would get their first numbers. There are none to be had on the meta device,
    and asking for them takes seconds: torch loads its compiler."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func.__name__ in FILLS:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def outline(config: ModelConfig) -> Model:
    """What `build` makes, on the meta device: no memory, no drawing. `place` gives it its weights."""
    with torch.device("meta"), _Unfilled():
        return build(config)
