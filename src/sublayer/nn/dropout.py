"""Dropout that does not wait for its coins."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sublayer.errors import ConfigError


class Dropout(nn.Module):
    """In training, zero each number with probability p and divide the rest by 1 - p. Srivastava et al. 2014.

    On a CPU, drawing one number a coin takes a quarter of a small model's training step. Here four coins are cut
    from each 64-bit word, 16 bits a coin, so p is met to 1/65,536.
    """

    def __init__(self, p: float = 0.1) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ConfigError(f"dropout is {p}: choose a number from 0 (off) to below 1.")
        self.p = p

    def extra_repr(self) -> str:
        return f"p={self.p}"

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu" or torch.compiler.is_compiling():
            return F.dropout(x, self.p)
        words = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
        coins = words.view(torch.int16)[: x.numel()].view(x.shape)
        kept = torch.empty_like(x, requires_grad=False)
        torch.ge(coins, round(self.p * 2**16) - 2**15, out=kept)
        return x * kept.mul_(1 / (1 - self.p))
