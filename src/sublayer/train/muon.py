"""Muon for the matrices inside the layers, AdamW for all else."""

from typing import Any

import torch
from torch import nn

from sublayer.nn import DecoderLayer, EncoderLayer


class Muon:
    """Momentum whose matrix is made orthogonal before each step. Jordan et al. 2024.

    Embeddings, the output map, norms and biases go by AdamW, as its authors have it. Updates are as large as AdamW's
    (Liu et al. 2025, section 2.2), so one learning rate serves both. As torch's optimisers it has `param_groups`,
    `state`, `step` and `zero_grad`.
    """

    def __init__(self, model: nn.Module, groups: list[dict[str, Any]], **adamw: Any) -> None:
        inside = [part for part in model.modules() if isinstance(part, EncoderLayer | DecoderLayer)]
        hidden = {id(p) for layer in inside for p in layer.parameters() if p.dim() == 2}
        orthogonal: list[dict[str, Any]] = []
        others: list[dict[str, Any]] = []
        for group in groups:
            for chosen, into in ((True, orthogonal), (False, others)):
                found = [p for p in group["params"] if (id(p) in hidden) is chosen]
                into += [group | {"params": found}] if found else []
        self.parts: list[torch.optim.Optimizer] = []
        if orthogonal:
            self.parts.append(torch.optim.Muon(orthogonal, adjust_lr_fn="match_rms_adamw"))
        if others:
            self.parts.append(torch.optim.AdamW(others, **adamw))
        self.param_groups = [group for part in self.parts for group in part.param_groups]
        self.state = self.parts[0].state
        for part in self.parts:
            part.state = self.state  # one for both: each has parameters of its own

    def step(self) -> None:
        for part in self.parts:
            part.step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        for part in self.parts:
            part.zero_grad(set_to_none)
