"""What a model is made of, in words and numbers."""

from collections.abc import Sequence

import torch

from sublayer.data import Pair
from sublayer.inspect import flops, parameters, shapes
from sublayer.tasks.packing import describe_packing
from sublayer.tasks.translate import Translate
from sublayer.text import Tokenizer


def describe(task: Translate, text: str | None = None) -> str:
    """The tutorials' shape table from a real forward pass, parameters, operations, and what is tied."""
    batch = task.batch([_example(task, text)])
    inputs = (batch.source, batch.target_in)
    counted = parameters(task.model)
    table = [(row.name, row.what, " × ".join(map(str, row.shape))) for row in shapes(task.model, *inputs)]
    sides = [("source", task.source), ("target", task.target)]
    return "\n".join(
        [
            *(f"{name}: {_tokens(tokenizer)}" for name, tokenizer in sides),
            "",
            *_columns([("part", "what", "shape"), *table]),
            "",
            f"parameters: {counted.total:,} ({counted.total * 4 / 2**20:.1f} MiB in fp32)",
            *(f"  {name}: {number:,}" for name, number in counted.parts.items()),
            *(f"tied: {' = '.join(names)}" for names in counted.tied),
            f"operations in this pass: {flops(task.model, *inputs):,}",
            describe_packing(task),
        ]
    )


def _tokens(tokenizer: Tokenizer) -> str:
    return f"{tokenizer.kind}, {tokenizer.vocab_size:,} tokens, normalization {tokenizer.normalization}"


@torch.inference_mode()
def _example(task: Translate, text: str | None) -> tuple[list[int], list[int]]:
    """Ids of the text and of its answer; without a text the first few tokens of each vocabulary."""
    if text is None:
        return list(range(4, min(10, len(task.source)))), list(range(4, min(9, len(task.target))))
    answer = next(task.predict([text]))[0].text
    return task.encode_pairs([Pair(text, answer, 1)])[0]


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
