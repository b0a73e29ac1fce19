"""Which examples go together."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

Rows = list[int]
WINDOW = 2**20
Draw = Callable[[np.random.Generator], np.ndarray]


def padding(sizes: Sequence[tuple[int, ...]]) -> int:
    """Tokens of padding where examples of these lengths, one a side, are one padded batch."""
    return len(sizes) * sum(max(side) for side in zip(*sizes, strict=True)) - sum(map(sum, sizes))


class TokenBatches:
    """Batches of about equally long examples, no more than `batch_tokens` = rows × longest side.

    sizes   (source length, target length) of each example
    seed    the batches of an epoch are a pure function of (seed, epoch), so a run can continue in the middle of one
    draw    which examples an epoch has, in which order; each of them once by default
    window  how many of them are sorted by length together: a batch is cut out of so many

    An example longer than the budget is a batch of its own.
    """

    def __init__(
        self,
        sizes: Sequence[tuple[int, int]] | np.ndarray,
        batch_tokens: int,
        *,
        seed: int = 1,
        draw: Draw | None = None,
        window: int = WINDOW,
    ) -> None:
        self.sizes = np.asarray(sizes, dtype=np.int32).reshape(-1, 2)
        self.batch_tokens = batch_tokens
        self.seed = seed
        self.draw: Draw = draw or (lambda random: random.permutation(len(self.sizes)))
        self.window = window

    def epoch(self, number: int) -> Iterator[Rows]:
        """The batches of this epoch, in its order."""
        random = np.random.default_rng([self.seed, number])
        order = self.draw(random)
        for start in range(0, len(order), self.window):
            batches = self._cut(order[start : start + self.window])
            yield from (batches[i] for i in random.permutation(len(batches)))

    def in_order(self) -> list[Rows]:
        """All examples once, short ones first: for validation and for files."""
        return self._cut(np.arange(len(self.sizes)))

    def _cut(self, order: np.ndarray) -> list[Rows]:
        source, target = self.sizes[order].T
        # Targets run up and down in turn, so that a batch across two source lengths keeps its targets alike.
        zigzag = np.where(source % 2 == 0, target, -target)
        order = order[np.lexsort((zigzag, source))]
        batches: list[Rows] = []
        rows: Rows = []
        longest = 0
        for i, size in zip(order.tolist(), self.sizes[order].max(1).tolist(), strict=True):
            longest = max(longest, size)
            if rows and longest * (len(rows) + 1) > self.batch_tokens:
                batches.append(rows)
                rows, longest = [], size
            rows.append(i)
        return [*batches, rows] if rows else batches
