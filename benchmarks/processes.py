"""The losses of one training by one process and by two, replicated and in parts: how far are the curves apart? Each is
`sublayer train` on CMUdict without dropout; one process takes as many batches an update as both do together.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from setting import CMUDICT, machine, table

MODEL = dict(d_model=64, num_heads=4, encoder_layers=2, decoder_layers=2, d_ff=128, dropout=0.0)
TRAIN = dict(batch_tokens=512, learning_rate=2e-4, warmup=50, log_every=1, device="cpu", validate_metrics=[])
WAYS = {
    "one process": (["train.accumulate=2"], 1, 1),
    "one process, two threads": (["train.accumulate=2"], 1, 2),
    "two, ddp": (["train.parallel=ddp"], 2, 1),
    "two, fsdp": (["train.parallel=fsdp"], 2, 1),
}
"""Settings, processes, threads of each. Two threads sum in another order, which shows what rounding alone does."""


def curve(
    folder: Path, recipe: Path, name: str, settings: list[str], processes: int, threads: int
) -> dict[str, list[float]]:
    """The losses of each update and of each validation."""
    out = folder / name
    command = [sys.executable, "-m", "sublayer", "train", str(recipe), "--out", str(out)]
    command += [word for setting in settings for word in ("--set", setting)]
    command += ["--nproc", str(processes)] if processes > 1 else []
    subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": str(threads)}, capture_output=True)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text("utf-8").splitlines()]
    return {key: [line[key] for line in lines if key in line] for key in ("loss", "valid_loss")}


def apart(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with gzip.open(CMUDICT, "rt", encoding="utf-8") as file:
            lines = [line for _, line in zip(range(20_500), file, strict=False)]
        for file, some in (("train.tsv", lines[:20_000]), ("valid.tsv", lines[20_000:])):
            (folder / file).write_text("".join(some), "utf-8")
        data = {key: str(folder / f"{key}.tsv") for key in ("train", "valid")}
        times = dict(steps=args.steps, seed=args.seed, validate_every=args.steps // 4, save_every=args.steps)
        recipe = folder / "recipe.yaml"
        recipe.write_text(json.dumps({"data": data, "model": MODEL, "train": TRAIN | times}), "utf-8")
        curves = {way: curve(folder, recipe, way, *how) for way, how in WAYS.items()}
    alone = curves["one process"]
    rows = [
        (way, f"{found['loss'][0]:.4f}", f"{found['loss'][-1]:.4f}")
        + tuple(f"{apart(found[key], alone[key]):.1e}" for key in ("loss", "valid_loss"))
        for way, found in curves.items()
    ]
    header = ("", "first loss", "last loss", f"furthest apart in {args.steps} updates", "in 4 validations")
    print(table(header, rows))
    print(f"\n{machine(('sublayer', 'torch'), seed=args.seed)}.")


if __name__ == "__main__":
    main()
