"""Adapters of low rank. Hu et al. 2022."""

from __future__ import annotations

from fnmatch import fnmatchcase

import torch
from torch import Tensor, nn

from sublayer.errors import ConfigError


class LowRank(nn.Module):
    """W x + b + α/r · B A x, where W and b stay as they are. Hu et al. 2022, section 4.1.

    down  A (r, in), random
    up    B (out, r), zeros, so that it starts as the map that it wraps
    """

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False).to(base.weight)
        self.up = nn.Linear(rank, base.out_features, bias=False).to(base.weight)
        nn.init.zeros_(self.up.weight)
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.scale * self.up(self.down(x))

    def whole(self, weight: Tensor, down: Tensor, up: Tensor) -> Tensor:
        """W + α/r · B A."""
        return weight + self.scale * (up @ down).to(weight.dtype)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """The one map that computes the same."""
        self.base.weight.copy_(self.whole(self.base.weight, self.down.weight, self.up.weight))
        return self.base.requires_grad_(True)


def adapt(model: nn.Module, rank: int, alpha: float, where: list[str]) -> list[str]:
    """Wrap every linear map whose name fits one of these globs, `*.q_proj` for example; their names. All other
    parameters stay as they are. ConfigError for a glob that fits none."""
    maps = {name: part for name, part in model.named_modules() if type(part) is nn.Linear}
    if unused := [glob for glob in where if not any(fnmatchcase(name, glob) for name in maps)]:
        kinds = sorted({name.rpartition(".")[2] for name in maps})
        raise ConfigError(
            f"No linear map is named {unused[0]!r}. Names end in {', '.join(kinds)}: write '*.{kinds[0]}'."
        )
    chosen = [name for name in maps if any(fnmatchcase(name, glob) for glob in where)]
    for name in chosen:
        _put(model, name, LowRank(maps[name], rank, alpha))
    return chosen


def merge(model: nn.Module) -> None:
    """Put one linear map in the place of each that was wrapped."""
    for name, part in list(model.named_modules()):
        if isinstance(part, LowRank):
            _put(model, name, part.merged())


def _put(model: nn.Module, name: str, part: nn.Module) -> None:
    owner, _, leaf = name.rpartition(".")
    setattr(model.get_submodule(owner), leaf, part)
