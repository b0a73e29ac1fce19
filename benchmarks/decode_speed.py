"""How many tokens a second search writes: sublayer and five peers, interleaved, on the same sources.

Greedily all of them; with a beam sublayer and CTranslate2, which have the same weights, in fp32 and in int8.

Every row writes the same number of tokens, EOS being forbidden, so that all do the same work.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Sequence
from statistics import median

import torch
from torch import Tensor

from peers import DECODED, CTranslate2, Marian, Peer, Sublayer, SublayerInt8, Tutorial, TutorialReadOnce
from setting import EOS, PAD, QUICK, SIZES, arguments, examples, machine, spread, table
from sublayer.data.batch import pad

Row = tuple[int, str]  # batch size, peer
BEAM = 5
GOALS: dict[Row, float] = {(1, Marian.name): 2.0, (16, Tutorial.name): 5.0, (16, TutorialReadOnce.name): 5.0}


def sources(rows: Sequence[Sequence[int]], batch: int, groups: int) -> list[Tensor]:
    """`groups` batches of about equally long sources, spread over all lengths."""
    ordered = sorted(rows[: batch * groups], key=len)
    return [pad([[*row, EOS] for row in ordered[i : i + batch]], PAD)[0] for i in range(0, len(ordered), batch)]


def tokens_per_second(peer: Peer, group: Sequence[Tensor], length: int, beam: int) -> float:
    started = time.perf_counter()
    for source in group:
        written = peer.generate(source, length) if beam == 1 else peer.search(source, length, beam)
        assert len(written) == len(source) and len(written[0]) == length, peer.name
    seconds = time.perf_counter() - started
    return sum(map(len, group)) * length / seconds


def measure(
    peers: Sequence[Peer],
    rows: Sequence[Sequence[int]],
    sizes: Sequence[int],
    length: int,
    rounds: int,
    seed: int,
    beam: int = 1,
) -> dict[Row, list[float]]:
    """Tokens a second by (batch size, peer), one number a round. Round 0 warms up and is not kept."""
    speeds: dict[Row, list[float]] = {(batch, peer.name): [] for batch in sizes for peer in peers}
    order = random.Random(seed)
    for number in range(rounds + 1):
        for batch in sizes:
            group = sources(rows, batch, groups=max(2, 8 // batch) if number else 1)
            for peer in order.sample(list(peers), len(peers)):
                gc.collect()
                speed = tokens_per_second(peer, group, length, beam)
                if number:
                    speeds[batch, peer.name].append(speed)
    return speeds


def lead(speeds: dict[Row, list[float]], row: Row) -> list[float]:
    """How many times as fast sublayer was, round for round."""
    return [ours / theirs for ours, theirs in zip(speeds[row[0], Sublayer.name], speeds[row], strict=True)]


def report(speeds: dict[Row, list[float]]) -> str:
    rows = [(row[1], row[0], spread(speeds[row], ",.0f"), spread(lead(speeds, row))) for row in speeds]
    return table(("model", "batch", "tokens/s", "sublayer ÷ this row"), rows)


def goals(speeds: dict[Row, list[float]]) -> str:
    return "\n".join(
        f"- batch {row[0]}, against {row[1]}: {median(lead(speeds, row)):.2f} × (goal {goal})"
        for row, goal in GOALS.items()
        if row in speeds
    )


def main() -> None:
    parser = arguments(__doc__ or "", rounds=5, threads=1)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 16, 64], help="rows at once, 1 16 64 by default")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    size = QUICK if args.quick else SIZES[args.config]
    rows = [source for source, _ in examples(args.config, args.pairs, size.vocab, 2 * max(8, *args.batch), args.seed)]
    peers = [make(size) for make in DECODED]
    for peer in peers:
        peer.model.eval()
    ours = peers[0]
    same = [SublayerInt8(ours), *(CTranslate2(ours, kind, args.threads) for kind in ("float32", "int8"))]
    ours.model = ours.model.for_inference()  # what `sublayer predict` does
    common = {"rows": rows, "length": size.write, "rounds": args.rounds, "seed": args.seed}
    with torch.inference_mode():
        speeds = measure([*peers, *same], sizes=args.batch, **common)
        wide = measure([ours, *same], sizes=[n for n in args.batch if n <= 16], beam=BEAM, **common)
    title = f"{'tiny models' if args.quick else args.config}, {size.write} tokens a row"
    print(f"### Greedy decoding, {title}\n\n{report(speeds)}")
    if not args.quick:
        print(f"\n{goals(speeds)}")
    print(f"\n### Beam {BEAM}, {title}\n\n{report(wide)}")
    versions = ("sublayer", "torch", "ctranslate2", "transformers", "x-transformers")
    print(
        f"\n{machine(versions, threads=args.threads, seed=args.seed)}. Median of {args.rounds} rounds (least to most)."
    )


if __name__ == "__main__":
    main()
