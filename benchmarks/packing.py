"""When a packed batch trains faster than the padded one: the same examples both ways, from buckets of every width, and
the way that training chooses beside transformers' MarianMT on the padded batch.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import torch

from peers import Marian, Peer, Sublayer
from setting import BOS, EOS, PAD, QUICK, SIZES, Example, arguments, examples, machine, spread, table
from sublayer.data.batch import PackedPairs, PairBatch
from sublayer.data.bucket import TokenBatches, padding
from sublayer.tasks.packing import pays
from sublayer.tasks.teaching import sizes

BATCH_TOKENS, FIXED_ROWS = 2048, 32
KINDS = {
    "bucketed": f"bucketed, {BATCH_TOKENS} tokens",
    "8 buckets": "drawn from 8 neighbouring buckets",
    "32 buckets": "drawn from 32 neighbouring buckets",
    "random": f"random order, {BATCH_TOKENS} tokens",
    "fixed": f"random order, {FIXED_ROWS} rows",
}


def pairs(data: Sequence[Example]) -> list[tuple[int, ...]]:
    return [tuple(lengths) for lengths in sizes(data).tolist()]


def draw(data: Sequence[Example], kind: str, rng: random.Random) -> list[Example]:
    """The examples of one batch, sorted by length as `TokenBatches` has them."""
    lengths = pairs(data)
    buckets = TokenBatches(sizes(data), BATCH_TOKENS).in_order()
    if kind in ("random", "fixed"):
        rows = rng.sample(range(len(data)), len(data))
    else:
        width = {"bucketed": 1, "8 buckets": 8, "32 buckets": 32}[kind]
        first = rng.randrange(max(1, len(buckets) - width))
        near = [row for bucket in buckets[first : first + width] for row in bucket]
        rows = rng.sample(near, len(near))
    kept, longest = [], 0
    for row in rows:
        longest = max(longest, *lengths[row])
        if len(kept) == FIXED_ROWS if kind == "fixed" else longest * (len(kept) + 1) > BATCH_TOKENS:
            break
        kept.append(row)
    return [data[row] for row in sorted(kept, key=lambda row: lengths[row])]


def seconds(model: Peer, batch: Any) -> float:
    """Of the processor: other work on the machine changes the wall's more."""
    gc.collect()
    started = time.process_time()
    model.update(batch)
    return time.process_time() - started


def measure(
    model: Sublayer, marian: Marian, data: Sequence[Example], rounds: int, seed: int
) -> dict[str, list[tuple[float, ...]]]:
    """Of one batch of each kind a round: the share of padding, tokens of padding a pair of lengths, and real tokens a
    second: padded, packed, as training chooses, and MarianMT's."""
    found: dict[str, list[tuple[float, ...]]] = {kind: [] for kind in KINDS}
    rng = random.Random(seed)
    for number in range(rounds + 1):
        for kind in KINDS:
            chosen = draw(data, kind, rng)
            sources, targets = zip(*chosen, strict=True)
            padded = PairBatch.of(sources, targets, pad_ids=(PAD, PAD), bos=BOS, eos=(EOS, EOS))
            packed = PackedPairs.of(sources, targets, bos=BOS, eos=(EOS, EOS))
            ways = ((model, padded), (model, packed), (marian, padded))
            tokens = packed.tokens + packed.source_tokens
            speed = {i: tokens / seconds(*ways[i]) for i in rng.sample(range(3), 3)}
            if number:  # round 0 warms up
                lengths = pairs(chosen)
                empty = padding(lengths)
                about = empty / (empty + tokens), empty / len(set(lengths))
                found[kind].append((*about, speed[0], speed[1], speed[int(pays(lengths))], speed[2]))
    return found


def report(found: dict[str, list[tuple[float, ...]]]) -> str:
    ways = "padded, tokens/s", "packed, tokens/s", "packed ÷ padded", f"as chosen ÷ {Marian.name}"
    rows = []
    for kind, rounds in found.items():
        share, each, padded, packed, taken, marian = zip(*rounds, strict=True)
        ratios = (
            spread([one / other for one, other in zip(*pair, strict=True)])
            for pair in ((packed, padded), (taken, marian))
        )
        about = f"{median(share):.0%}", f"{median(each):.0f}"
        rows.append((KINDS[kind], *about, spread(padded, ",.0f"), spread(packed, ",.0f"), *ratios))
    return table(("batches", "padding", "a pair of lengths", *ways), rows)


def main() -> None:
    parser = arguments(__doc__ or "", rounds=7, threads=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    size = QUICK if args.quick else SIZES[args.config]
    model, marian = Sublayer(size), Marian(size)
    model.model.train()
    marian.model.train()
    data = examples(args.config, args.pairs, size.vocab, 20_000, args.seed)
    found = measure(model, marian, data, args.rounds, args.seed)
    print(f"### Packing, {'tiny models' if args.quick else args.config}\n")
    print(report(found))
    about = machine(("sublayer", "torch", "transformers"), threads=args.threads, seed=args.seed)
    print(f"\n{about}. Seconds of the processor. Median of {args.rounds} rounds (least to most).")


if __name__ == "__main__":
    main()
