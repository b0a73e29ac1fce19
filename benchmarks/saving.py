"""Memory of one training update of a deep decoder with a large vocabulary: plain, with layers computed again, with the
loss in chunks, and with both. Each is a process of its own; what counts is its peak above what it held before.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from memory import mebibytes
from setting import machine, table

ROWS = {"plain": (False, 0), "recompute": (True, 0), "loss_chunk 256": (False, 256), "both": (True, 256)}


def measure(recompute: bool, chunk: int, layers: int, vocab: int, d_model: int, rows: int) -> tuple[float, float]:
    """MiB above the model with its optimiser, and processor seconds, of the second update."""
    import torch

    from sublayer.models import ModelConfig
    from sublayer.models.build import build
    from sublayer.tasks.teaching import output_loss
    from sublayer.train.around import Recomputed
    from sublayer.train.loss import Loss
    from sublayer.train.optim import optimizer

    torch.set_num_threads(1)
    torch.manual_seed(1)
    config = ModelConfig(
        architecture="decoder",
        target_vocab=vocab,
        d_model=d_model,
        num_heads=4,
        decoder_layers=layers,
        position="rotary",
        dropout=0.1,
    )
    model = build(config).train()
    steps = optimizer(model, "adamw")

    def cost(model: torch.nn.Module, ids: torch.Tensor) -> Loss:
        states = model.states(ids[:, :-1]).flatten(0, 1)
        return output_loss(model.project, states, ids[:, 1:].flatten(), 0.1, chunk)

    loss = Recomputed(cost) if recompute else cost
    for batch in (2, rows):  # the first one makes gradients and moments
        before, begun = mebibytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss), time.process_time()
        loss(model, torch.randint(4, vocab, (batch, 257))).mean.backward()
        steps.step()
        steps.zero_grad(set_to_none=True)
        peak, seconds = mebibytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss), time.process_time() - begun
    return peak - before, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--vocab", type=int, default=32_000)
    parser.add_argument("--d-model", type=int, default=256)
    parser.add_argument("--rows", type=int, default=8, help="of 256 tokens, 8 by default")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run at all?")
    args = parser.parse_args()
    size = (2, 500, 16, 3) if args.quick else (args.layers, args.vocab, args.d_model, args.rows)
    found = {}
    for row, saving in ROWS.items():
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            found[row] = pool.submit(partial(measure, *saving), *size).result()
    whole, seconds = found["plain"]
    layers, vocab, d_model, rows = size
    print(f"### One update of {layers} layers of width {d_model}, {vocab:,} tokens, {rows} × 256 of them\n")
    told = [(row, f"{mib:,.0f}", f"{mib / whole - 1:+.0%}", f"{s / seconds:.2f}") for row, (mib, s) in found.items()]
    print(table(("update", "MiB above the model", "change", "processor time ÷ plain"), told))
    print(f"\n{machine(('sublayer', 'torch'), threads=1, seed=1)}.")


if __name__ == "__main__":
    main()
