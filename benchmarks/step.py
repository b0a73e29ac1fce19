"""What the trainer adds to a training step: its update against a hand-written torch loop of the same model, and what
bfloat16, layers that are computed again and a loss in chunks cost or bring. Interleaved on the same batches, in
processor time, so that other programs disturb less.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from peers import RATE, Sublayer
from setting import QUICK, SIZES, arguments, examples, machine, spread, table
from sublayer.data.batch import PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.tasks.teaching import logits, sizes, translation_loss
from sublayer.train.around import Bfloat16, Recomputed
from sublayer.train.guard import Given
from sublayer.train.optim import optimizer
from sublayer.train.plan import Limits
from sublayer.train.report import Listeners
from sublayer.train.schedule import Constant
from sublayer.train.trainer import Trainer
from train_speed import BATCH_TOKENS, collate

Update = Callable[[PairBatch], None]
BY_HAND = "by hand"


def by_hand(model: nn.Module) -> Update:
    """Forward, cross-entropy, backward, clip, AdamW: what one writes with torch alone."""
    steps = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.0, fused=True)

    def update(batch: PairBatch) -> None:
        F.cross_entropy(logits(model, batch), batch.labels, label_smoothing=0.1).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        steps.step()
        steps.zero_grad(set_to_none=True)

    return update


def by_trainer(model: nn.Module, folder: Path, around: Callable[[Any], Any], chunk: int = 0) -> Update:
    loss = around(partial(translation_loss, smoothing=0.1, chunk=chunk))
    make = partial(optimizer, kind="adamw")
    batches: Any = None  # they are handed over one by one
    limits, schedule = Limits(steps=10**9), Constant(RATE, 0, 1)
    trainer = Trainer(model, loss, batches, make, schedule, limits, folder=folder, listener=Listeners([]))
    return lambda batch: trainer._update([Given(None, batch)])


def main() -> None:
    parser = arguments(__doc__ or "", rounds=5, threads=1)
    parser.add_argument("--updates", type=int, default=6, help="a round, 6 by default")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    size = QUICK if args.quick else SIZES[args.config]
    data = examples(args.config, args.pairs, size.vocab, 20_000, args.seed)
    bucketed = TokenBatches(sizes(data), BATCH_TOKENS, seed=args.seed)
    spent: dict[str, list[float]] = {}
    order = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as name:
        plain = lambda loss: loss  # noqa: E731
        updates: dict[str, Update] = {BY_HAND: by_hand(Sublayer(size).model.train())}
        for row, around, chunk in (
            ("trainer", plain, 0),
            ("trainer, precision bf16", partial(Bfloat16, device="cpu"), 0),
            ("trainer, recompute", Recomputed, 0),
            ("trainer, loss_chunk 512", plain, 512),
        ):
            updates[row] = by_trainer(Sublayer(size).model.train(), Path(name), around, chunk)
        for number in range(args.rounds + 1):
            batches = [collate([data[i] for i in rows]) for rows in islice(bucketed.epoch(number), args.updates)]
            found = dict.fromkeys(updates, 0.0)
            for batch in batches[: None if number else 1]:
                for row in order.sample(list(updates), len(updates)):
                    begun = time.process_time()
                    updates[row](batch)
                    found[row] += time.process_time() - begun
            tokens = sum(batch.tokens + batch.source_tokens for batch in batches)
            for row in found if number else ():  # round 0 warms up
                spent.setdefault(row, []).append(found[row] / tokens)
    print(f"### One update, {'tiny models' if args.quick else args.config}\n")
    rows = [
        (
            row,
            f"{1 / median(each):,.0f}",
            spread([ours / theirs for ours, theirs in zip(each, spent[BY_HAND], strict=True)]),
        )
        for row, each in spent.items()
    ]
    print(table(("loop", "tokens a second of processor time", "time ÷ by hand"), rows))
    print(f"\n{machine(('sublayer', 'torch'), threads=args.threads, seed=args.seed)}. Median of {args.rounds} rounds.")


if __name__ == "__main__":
    main()
