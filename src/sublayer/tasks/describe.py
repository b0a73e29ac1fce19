"""What a model is made of, in words and numbers."""

from collections.abc import Sequence

from sublayer.inspect import flops, parameters, shapes
from sublayer.tasks.base import Task
from sublayer.tasks.packing import describe_packing


def describe(task: Task, text: str | None = None) -> str:
    """The tutorials' shape table from a real forward pass, parameters, operations, and what is tied."""
    inputs = task.inputs(text)
    counted = parameters(task.model)
    table = [(row.name, row.what, " × ".join(map(str, row.shape))) for row in shapes(task.model, *inputs)]
    return "\n".join(
        [
            *task.sides(),
            "",
            *columns([("part", "what", "shape"), *table]),
            "",
            f"parameters: {counted.total:,} ({_size(counted.total * 4)} in fp32)",
            *(f"  {name}: {number:,}" for name, number in counted.parts.items()),
            *(f"tied: {' = '.join(names)}" for names in counted.tied),
            f"operations in this pass: {flops(task.model, *inputs):,}",
            describe_packing(task),
        ]
    )


def _size(bytes: int) -> str:
    return f"{bytes / 2**20:,.1f} MiB" if bytes >= 2**20 else f"{bytes / 2**10:,.1f} KiB"


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of a table whose columns stand under one another."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
