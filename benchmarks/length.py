"""What attention over long sequences costs: dense, within a window, and linear, forward, by length."""

from __future__ import annotations

import math
import random
import resource
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

from memory import fresh, mebibytes
from setting import arguments, machine, spread, table

if TYPE_CHECKING:
    from torch import Tensor

HEADS, WIDTH, WINDOW = 4, 64, 256
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
QUICK = (128, 256, 512, 1024)
DENSE, LOCAL, LINEAR = "dense (SDPA)", f"Local({WINDOW})", "Linear()"


def kernels() -> dict[str, Callable[..., Tensor]]:
    from sublayer.nn import Fused, Linear, Local

    return {DENSE: Fused(), LOCAL: Local(WINDOW), LINEAR: Linear()}


def heads(length: int, seed: int) -> tuple[Tensor, ...]:
    """Queries, keys and values (1, heads, length, width), laid out as attention's maps leave them."""
    import torch

    torch.manual_seed(seed)
    x = torch.randn(1, length, 3, HEADS, WIDTH)
    return tuple(part.transpose(1, 2) for part in x.unbind(2))


def extra(name: str, length: int, threads: int, seed: int) -> float:
    """MiB by which one call raises the peak resident size, its output included. For a process of its own."""
    import torch

    torch.set_num_threads(threads)
    kernel, inputs = kernels()[name], heads(length, seed)
    with torch.no_grad():
        kernel(*heads(QUICK[0], seed))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        kernel(*inputs)
    return mebibytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def measure(lengths: tuple[int, ...], rounds: int, threads: int, seed: int) -> dict[tuple[str, int], list[float]]:
    """Milliseconds a call: one number a round. Kernels take turns; shorter inputs are read more often."""
    import torch

    torch.set_num_threads(threads)
    spent: dict[tuple[str, int], list[float]] = {(name, length): [] for name in kernels() for length in lengths}
    order = random.Random(seed)
    for length in lengths:
        inputs, calls = heads(length, seed), lengths[-1] // length
        for number in range(rounds + 1):
            for name, kernel in order.sample(sorted(kernels().items()), 3):
                started = time.perf_counter()
                with torch.no_grad():
                    for _ in range(calls if number else 1):
                        kernel(*inputs)
                if number:  # round 0 warms up
                    spent[name, length].append((time.perf_counter() - started) / calls * 1e3)
    return spent


def exponent(spent: dict[tuple[str, int], list[float]], name: str, start: int, end: int) -> float:
    """e in time ~ length^e."""
    return math.log(median(spent[name, end]) / median(spent[name, start])) / math.log(end / start)


def main() -> None:
    parser = arguments(__doc__ or "", rounds=3)
    parser.add_argument("--threads", type=int, default=2, help="of torch, 2 by default")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lengths = QUICK if args.quick else LENGTHS
    start, end = lengths[-1] // 8, lengths[-1]
    # Memory first: a process starts with the peak of the one that started it.
    grown = {name: fresh(extra, name, end, args.threads, args.seed) for name in (DENSE, LOCAL, LINEAR)}
    spent = measure(lengths, args.rounds, args.threads, args.seed)
    lead = {
        name: [dense / mine for dense, mine in zip(spent[DENSE, end], spent[name, end], strict=True)] for name in grown
    }
    growth = {name: exponent(spent, name, start, end) for name in grown}
    header = ("ms at length", *(f"{length:,}" for length in lengths), f"dense ÷ this row at {end:,}")
    header += (f"exponent {start:,} to {end:,}", "extra MiB")
    print(f"### Attention by length{', tiny' if args.quick else ''}: {HEADS} heads of {WIDTH}, forward, two-sided\n")
    rows = [
        (
            name,
            *(f"{median(spent[name, length]):,.1f}" for length in lengths),
            spread(lead[name], ".1f"),
            f"{growth[name]:.2f}",
            f"{grown[name]:.0f}",
        )
        for name in grown
    ]
    print(table(header, rows))
    if not args.quick:
        print(f"\n- {LOCAL}: {median(lead[LOCAL]):.1f} × dense (goal 18)")
        print(f"- {LOCAL}: exponent {growth[LOCAL]:.2f} (goal at most 1.1), {grown[LOCAL]:.0f} MiB (goal at most 20)")
        print(f"- {LINEAR}: {median(lead[LINEAR]):.1f} × dense (goal 60)")
    print(f"\n{machine(('sublayer', 'torch'), threads=args.threads, seed=args.seed)}. Median of {args.rounds} rounds.")


if __name__ == "__main__":
    main()
