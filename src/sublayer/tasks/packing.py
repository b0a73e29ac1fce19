"""Which batches are packed: each side one row, without padding."""

from collections.abc import Sequence

from sublayer.data.batch import PackedPairs
from sublayer.data.bucket import padding
from sublayer.tasks.base import Task
from sublayer.tasks.translate import Translate

Example = tuple[Sequence[int], Sequence[int]]

LEAST_SHARE, LEAST_A_CALL = 0.1, 20
"""A batch is packed of which a tenth would be padding, and 20 tokens or more of it for each pair of lengths: every such
pair costs attention a call of its own. From there it is faster on a CPU (benchmarks/packing.py); of bucketed batches
about one in ten is there."""


def pays(lengths: Sequence[tuple[int, ...]]) -> bool:
    """Whether packing examples of these lengths, one a side, saves enough."""
    saved = padding(lengths)
    real = sum(map(sum, lengths))
    return saved >= LEAST_SHARE * (real + saved) and saved >= LEAST_A_CALL * len(set(lengths))


def packs(task: Translate, examples: Sequence[Example]) -> bool:
    """Whether this training batch is packed."""
    return why_not(task) is None and pays([(len(source) + 1, len(target) + 1) for source, target in examples])


def pack(task: Translate, examples: Sequence[Example]) -> PackedPairs:
    sources, targets = zip(*examples, strict=True)
    batch = PackedPairs.of(sources, targets, bos=task.target.bos, eos=(task.source.eos, task.target.eos))
    return batch.to(task.device)


def why_not(task: Task) -> str | None:
    """What keeps all batches padded; None where nothing does."""
    config = task.config
    if own := [part for part in ("ffn", "norm", "position", "kernel") if ":" in getattr(config, part).kind]:
        return f"{', '.join(own)} may not know packed rows"
    if config.kernel.kind != "fused":
        return f"kernel {config.kernel.kind} would weigh every token of the row"
    if config.position.kind in ("relative", "layer-relative", "alibi"):
        return f"position {config.position.kind} adds to the scores of every pair of tokens in the row"
    if task.device.type != "cpu":
        return f"it was measured on a CPU, not on {task.device.type}"
    return None


def describe_packing(task: Task) -> str:
    """One line for `sublayer show`."""
    if reason := why_not(task):
        return f"packing: no training batch, since {reason}"
    return (
        f"packing: training batches that would be padding to {LEAST_SHARE:.0%} or more, "
        f"with {LEAST_A_CALL} tokens of it or more for each pair of lengths"
    )
