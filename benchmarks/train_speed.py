"""How many tokens a second a training update takes in: sublayer and four peers, interleaved, on the same batches."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Sequence
from statistics import median

import torch
from peers import PEERS, Peer
from setting import BOS, EOS, PAD, QUICK, SIZES, Example, arguments, examples, machine, spread, table

from sublayer.data.batch import PairBatch
from sublayer.data.bucket import TokenBatches
from sublayer.tasks.translate import sizes

BATCH_TOKENS, FIXED_ROWS = 2048, 32
ROWS = {"bucketed": f"bucketed, {BATCH_TOKENS} tokens", "fixed": f"{FIXED_ROWS} rows, random order"}


def batches(data: Sequence[Example], number: int, updates: int, seed: int) -> dict[str, list[PairBatch]]:
    """Of one round: `updates` bucketed batches, and as many rows of 32 as come nearest to their tokens."""
    bucketed = TokenBatches(sizes(data), BATCH_TOKENS, seed=seed).epoch(number)[:updates]
    wanted = max(1, round(sum(map(len, bucketed)) / FIXED_ROWS))
    drawn = random.Random(f"{seed} {number}").sample(range(len(data)), wanted * FIXED_ROWS)
    fixed = [drawn[i : i + FIXED_ROWS] for i in range(0, len(drawn), FIXED_ROWS)]
    return {
        kind: [_batch([data[row] for row in rows]) for rows in groups]
        for kind, groups in (("bucketed", bucketed), ("fixed", fixed))
    }


def _batch(rows: Sequence[Example]) -> PairBatch:
    sources, targets = zip(*rows, strict=True)
    return PairBatch.of(sources, targets, pad_ids=(PAD, PAD), bos=BOS, eos=(EOS, EOS))


def tokens_per_second(peer: Peer, group: Sequence[PairBatch]) -> float:
    """Real tokens, source and target."""
    started = time.perf_counter()
    for batch in group:
        peer.update(batch)
    seconds = time.perf_counter() - started
    return sum(batch.tokens + batch.source_tokens for batch in group) / seconds


def measure(
    peers: Sequence[Peer], data: Sequence[Example], rounds: int, updates: int, seed: int
) -> dict[tuple[str, str], list[float]]:
    """Tokens a second by (peer, kind of batches), one number a round. Round 0 warms up and is not kept."""
    speeds: dict[tuple[str, str], list[float]] = {(peer.name, kind): [] for kind in ROWS for peer in peers}
    order = random.Random(seed)
    for number in range(rounds + 1):
        turns = list(speeds)
        order.shuffle(turns)
        made = batches(data, number, updates if number else 1, seed)
        named = {peer.name: peer for peer in peers}
        for name, kind in turns:
            gc.collect()
            speed = tokens_per_second(named[name], made[kind] if number else made[kind][:1])
            if number:
                speeds[name, kind].append(speed)
    return speeds


def report(speeds: dict[tuple[str, str], list[float]], parameters: dict[str, int]) -> str:
    """Each row, and how much faster sublayer on bucketed batches was in the same round."""
    ours = speeds["sublayer", "bucketed"]

    def lead(row: tuple[str, str]) -> list[float]:
        return [a / b for a, b in zip(ours, speeds[row], strict=True)]

    rows = [
        (name, f"{parameters[name] / 1e6:.2f} M", ROWS[kind], spread(speeds[name, kind], ",.0f"), spread(lead((name, kind))))
        for name, kind in speeds
    ]
    header = ("model", "parameters", "batches", "tokens/s", "sublayer bucketed ÷ this row")
    best = max((row for row in speeds if row[1] == "bucketed" and row[0] != "sublayer"), key=lambda r: median(speeds[r]))
    slow = [row for row in speeds if row[1] == "fixed" and row[0] in ("tutorial code", "torch.nn.Transformer")]
    goals = [f"- against the best bucketed peer, {best[0]}: {median(lead(best)):.2f} × (goal 1.0)"]
    goals += [f"- against {name} as its users run it: {median(lead((name, kind))):.2f} × (goal 2.0)" for name, kind in slow]
    return "\n".join([table(header, rows), "", *goals])


def main() -> None:
    parser = arguments(__doc__ or "", rounds=5, threads=2)
    parser.add_argument("--updates", type=int, default=4, help="bucketed updates a round, 4 by default")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    size = QUICK if args.quick else SIZES[args.config]
    data = examples(args.config, args.pairs, size.vocab, 20_000, args.seed)
    peers = [make(size) for make in PEERS]
    for peer in peers:
        peer.model.train()
    speeds = measure(peers, data, args.rounds, args.updates, args.seed)
    parameters = {peer.name: sum(p.numel() for p in peer.model.parameters()) for peer in peers}
    print(f"### Training, {args.config}{' (quick: tiny models)' if args.quick else ''}\n")
    print(report(speeds, parameters))
    versions = ("sublayer", "torch", "transformers", "x-transformers")
    print(f"\n{machine(versions, threads=args.threads, seed=args.seed)}. Median of {args.rounds} rounds (least to most).")


if __name__ == "__main__":
    main()
