"""How many tokens a second a training update takes in: sublayer and four peers, interleaved, on the same batches."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Sequence
from itertools import islice
from statistics import median

import torch

from peers import TRAINED, Peer, Sublayer, Torch, Tutorial
from setting import BOS, EOS, PAD, QUICK, SIZES, Example, arguments, examples, machine, spread, table
from sublayer.data.batch import PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.tasks.teaching import sizes

BATCH_TOKENS, FIXED_ROWS = 2048, 32
Row = tuple[str, str]  # peer, kind of batches
ROWS = {"bucketed": f"bucketed, {BATCH_TOKENS} tokens", "fixed": f"{FIXED_ROWS} rows, random order"}


def batches(data: Sequence[Example], number: int, updates: int, seed: int) -> dict[str, list[PairBatch]]:
    """Of one round: `updates` bucketed batches, and as many rows of 32 as come nearest to their tokens."""
    bucketed = list(islice(TokenBatches(sizes(data), BATCH_TOKENS, seed=seed).epoch(number), updates))
    wanted = max(1, round(sum(map(len, bucketed)) / FIXED_ROWS))
    drawn = random.Random(f"{seed} {number}").sample(range(len(data)), wanted * FIXED_ROWS)
    fixed = [drawn[i : i + FIXED_ROWS] for i in range(0, len(drawn), FIXED_ROWS)]
    return {
        kind: [collate([data[row] for row in rows]) for rows in groups]
        for kind, groups in (("bucketed", bucketed), ("fixed", fixed))
    }


def collate(rows: Sequence[Example]) -> PairBatch:
    sources, targets = zip(*rows, strict=True)
    return PairBatch.of(sources, targets, pad_ids=(PAD, PAD), bos=BOS, eos=(EOS, EOS))


def seconds(peer: Peer, batch: PairBatch) -> float:
    gc.collect()
    started = time.perf_counter()
    peer.update(batch)
    return time.perf_counter() - started


def measure(
    peers: Sequence[Peer], data: Sequence[Example], rounds: int, updates: int, seed: int
) -> dict[Row, list[float]]:
    """Real tokens, source and target, a second: one number a round. Peers take turns at each batch."""
    speeds: dict[Row, list[float]] = {(peer.name, kind): [] for kind in ROWS for peer in peers}
    order = random.Random(seed)
    for number in range(rounds + 1):
        for kind, group in batches(data, number, updates if number else 1, seed).items():
            spent = dict.fromkeys((peer.name for peer in peers), 0.0)
            for batch in group:
                for peer in order.sample(list(peers), len(peers)):
                    spent[peer.name] += seconds(peer, batch)
            tokens = sum(batch.tokens + batch.source_tokens for batch in group)
            for name in spent if number else ():  # round 0 warms up
                speeds[name, kind].append(tokens / spent[name])
    return speeds


def lead(speeds: dict[Row, list[float]], row: Row) -> list[float]:
    """How many times as fast sublayer on bucketed batches was, round for round."""
    return [ours / theirs for ours, theirs in zip(speeds[Sublayer.name, "bucketed"], speeds[row], strict=True)]


def report(speeds: dict[Row, list[float]], parameters: dict[str, int]) -> str:
    header = ("model", "parameters", "batches", "tokens/s", "sublayer bucketed ÷ this row")
    rows = [
        (
            row[0],
            f"{parameters[row[0]] / 1e6:.2f} M",
            ROWS[row[1]],
            spread(speeds[row], ",.0f"),
            spread(lead(speeds, row)),
        )
        for row in speeds
    ]
    return table(header, rows)


def goals(speeds: dict[Row, list[float]]) -> str:
    """The lead over the best peer on the same batches, and over what users of two of them run."""
    bucketed = [row for row in speeds if row[1] == "bucketed" and row[0] != Sublayer.name]
    best = max(bucketed, key=lambda row: median(speeds[row]))
    said = [f"- against the best bucketed peer, {best[0]}: {median(lead(speeds, best)):.2f} × (goal 1.0)"]
    for name in (Tutorial.name, Torch.name):
        said.append(f"- against {name}, {ROWS['fixed']}: {median(lead(speeds, (name, 'fixed'))):.2f} × (goal 2.0)")
    return "\n".join(said)


def main() -> None:
    parser = arguments(__doc__ or "", rounds=5, threads=2)
    parser.add_argument("--updates", type=int, default=4, help="bucketed updates a round, 4 by default")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    size = QUICK if args.quick else SIZES[args.config]
    data = examples(args.config, args.pairs, size.vocab, 20_000, args.seed)
    peers = [make(size) for make in TRAINED]
    for peer in peers:
        peer.model.train()
    speeds = measure(peers, data, args.rounds, args.updates, args.seed)
    parameters = {peer.name: sum(p.numel() for p in peer.model.parameters()) for peer in peers}
    print(f"### Training, {'tiny models' if args.quick else args.config}\n")
    print(report(speeds, parameters))
    if not args.quick:
        print(f"\n{goals(speeds)}")
    versions = ("sublayer", "torch", "transformers", "x-transformers")
    print(
        f"\n{machine(versions, threads=args.threads, seed=args.seed)}. Median of {args.rounds} rounds (least to most)."
    )


if __name__ == "__main__":
    main()
