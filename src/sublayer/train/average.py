"""The mean of several weights of one run."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from sublayer.errors import CheckpointError
from sublayer.models.store import load_tensors


def average(files: Sequence[Path]) -> dict[str, Tensor]:
    """Each tensor's mean over weight files of one model, summed in float64. Vaswani et al. 2017, section 6.1.

    CheckpointError where a file has other names or shapes than the first.
    """
    first, *others = files
    tensors = load_tensors(first)
    sums = {name: tensor.double() for name, tensor in tensors.items()}
    for file in others:
        more = load_tensors(file)
        if {n: t.shape for n, t in more.items()} != {n: t.shape for n, t in tensors.items()}:
            raise CheckpointError(f"{file} holds other tensors than {first}: average checkpoints of one run.")
        for name, tensor in more.items():
            sums[name] += tensor
    return {name: torch.div(total, len(files)).to(tensors[name].dtype) for name, total in sums.items()}
