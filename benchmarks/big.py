"""What a corpus takes of memory when its ids are kept in a file (`data.store`).

A file of pairs of the given size is made, its vocabularies are learned, all of it is encoded, and a small model learns
from it for a few updates. Growth is that of the process over what it has after its imports: of the pages that it alone
holds, and of all, in which pages of the mapped file count until the system wants them back.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

WORDS, LONGEST, AT_ONCE = 20_000, 20, 20_000


def write_pairs(path: Path, size: int) -> None:
    """Lines of 4 to 20 words a side until there are `size` bytes, words as frequent as Zipf has them."""
    random = np.random.default_rng(1)
    names = np.array([f"w{number:x}" for number in range(WORDS)])
    odds = 1 / np.arange(1, WORDS + 1)
    with path.open("wb") as file:
        while file.tell() < size:
            drawn = names[random.choice(WORDS, (AT_ONCE, 2, LONGEST), p=odds / odds.sum())].tolist()
            lengths = random.integers(4, LONGEST + 1, AT_ONCE).tolist()
            lines = (f"{' '.join(a[:n])}\t{' '.join(b[:n])}\n" for (a, b), n in zip(drawn, lengths, strict=True))
            file.write("".join(lines).encode())


class Peak(threading.Thread):
    """The most that this process has held, in MiB, looked at ten times a second: alone and in all (Linux)."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.alone, self.all = held()

    def run(self) -> None:
        while True:
            alone, everything = held()
            self.alone, self.all = max(self.alone, alone), max(self.all, everything)
            time.sleep(0.1)


def held() -> tuple[float, float]:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    alone, everything = (int(status[name].split()[0]) / 1024 for name in ("RssAnon", "VmRSS"))
    return alone, everything


class Told:
    def step(self, progress: object) -> None: ...

    def record(self, line: object) -> None: ...

    def message(self, text: str) -> None:
        print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=2048, help="size of the file of pairs")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--memory", action="store_true", help="hold all in memory, to compare")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pairs(folder / "pairs.tsv", args.mib * 2**20)
        words = {"kind": "word", "vocab_size": 8000}
        recipe = make_recipe(
            {
                "data": {"train": str(folder / "pairs.tsv")} | ({} if args.memory else {"store": str(folder / "ids")}),
                "text": {"source": words, "target": words},
                "model": {"d_model": 64, "num_heads": 2, "encoder_layers": 1, "decoder_layers": 1},
                "train": {"steps": args.steps, "batch_tokens": 4096},
            },
            origin="this script",
        )
        alone, everything = held()
        peak, started = Peak(), time.monotonic()
        peak.start()
        fit(recipe, folder / "run", Told())
        print(
            f"{args.mib} MiB of pairs, {args.steps} updates, {time.monotonic() - started:,.0f} s: "
            f"grew by {peak.alone - alone:,.0f} MiB of its own, {peak.all - everything:,.0f} MiB with mapped pages"
        )


if __name__ == "__main__":
    main()
