"""One long text, read through windows."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class Windows:
    """Batches of `rows` windows of `context` tokens that lie end to end, in another order and from another start each
    epoch.

    In an epoch the tokens after the start are read once, but for the few that fill no window. A window is one token
    longer than what is read of it: the last one is only predicted. The batches of an epoch are a pure function of
    (seed, epoch). A text shorter than a window is one window.
    """

    def __init__(self, ids: Sequence[int], context: int, rows: int, *, seed: int = 1) -> None:
        self.ids = torch.tensor(ids)
        self.context = max(1, min(context, len(self.ids) - 1))
        self.rows, self.seed = rows, seed

    def epoch(self, number: int) -> list[list[int]]:
        """The first tokens of the windows, in batches."""
        random = np.random.default_rng([self.seed, number])
        room = len(self.ids) - self.context
        starts = np.arange(random.integers(min(self.context, room)), room, self.context)
        starts = random.permutation(starts)
        return [starts[i : i + self.rows].tolist() for i in range(0, len(starts), self.rows)]

    def in_order(self) -> list[Tensor]:
        """Batches (rows, context + 1) that predict every token but the first once; a last window that is shorter is a
        batch of its own."""
        whole = list(range(0, len(self.ids) - self.context, self.context))
        batches = [self.make(whole[i : i + self.rows]) for i in range(0, len(whole), self.rows)]
        end = whole[-1] + self.context if whole else 0
        rest = self.ids[None, end:]
        return [*batches, rest] if rest.size(1) > 1 else batches

    def make(self, starts: Sequence[int]) -> Tensor:
        """(rows, context + 1)."""
        return torch.stack([self.ids[start : start + self.context + 1] for start in starts])
