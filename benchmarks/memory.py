"""Does memory stay where it is? Peak resident size of training after 50 and 550 updates, and of `sublayer predict`
on 10,000 and 100,000 lines. Each run is a process of its own, and this one stays small: on Linux a process starts
with the peak of the one that started it.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from setting import CMUDICT, QUICK, SIZES, Sizes, arguments, examples, machine, table
from sublayer.data import read_pairs

WARM, MORE = 50, 500
FEW, MANY = 10_000, 100_000


def mebibytes(maxrss: int) -> float:
    """Systems count differently: macOS bytes, Linux KiB."""
    return maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20


def train(config: str, size: Sizes, pairs: Path | None, seed: int, warm: int, more: int, threads: int) -> list[float]:
    """The trainer's own loop: peaks after `warm` updates and after `more` further ones."""
    from functools import partial

    import torch

    from peers import Sublayer
    from sublayer.data.bucket import TokenBatches
    from sublayer.tasks.teaching import sizes, translation_loss
    from sublayer.train.plan import Limits
    from sublayer.train.schedule import SCHEDULES
    from sublayer.train.trainer import Trainer
    from train_speed import BATCH_TOKENS, collate

    data = examples(config, pairs, size.vocab, 20_000, seed)
    bucketed = TokenBatches(sizes(data), BATCH_TOKENS, seed=seed)
    peaks: list[float] = []

    class Batches:
        def epoch(self, number: int) -> Iterator[list[int]]:
            return bucketed.epoch(number)

        def make(self, rows: list[int]) -> Any:
            return collate([data[row] for row in rows])

    class Watcher:
        def step(self, progress: Any) -> None:
            if progress.step in (warm, warm + more):
                peaks.append(mebibytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))

        def record(self, line: dict[str, Any]) -> None: ...

        def message(self, text: str) -> None: ...

    torch.set_num_threads(threads)
    ours = Sublayer(size)
    limits = Limits(steps=warm + more, save_every=warm + more + 1)
    schedule = SCHEDULES["cosine"](1e-4, warm, warm + more)
    with tempfile.TemporaryDirectory() as folder:
        loss = partial(translation_loss, smoothing=0.1)
        trainer = Trainer(
            ours.model,
            loss,
            Batches(),
            lambda _: ours.optimizer,
            schedule,
            limits,
            folder=Path(folder),
            listener=Watcher(),
        )
        trainer.run()
    return peaks


def make_run(folder: Path) -> None:
    """A run folder with a small model that knows nothing, and answers of at most 8 tokens."""
    from sublayer.models import ModelConfig
    from sublayer.models.build import build
    from sublayer.tasks.search import Search
    from sublayer.tasks.translate import Translate
    from sublayer.text import train_tokenizer

    pairs = read_pairs(CMUDICT)
    source = train_tokenizer("char", [pair.source for pair in pairs])
    target = train_tokenizer("split", [pair.target for pair in pairs])
    config = ModelConfig(
        source_vocab=len(source),
        target_vocab=len(target),
        d_model=32,
        num_heads=2,
        encoder_layers=1,
        decoder_layers=1,
    )
    Translate(build(config), config, source, target, Search(max_ratio=0, max_extra=8)).save_pretrained(folder)


def write_lines(path: Path, count: int) -> None:
    words = cycle(pair.source for pair in read_pairs(CMUDICT))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{word}\n" for word in islice(words, count))


def predict(run: Path, lines: Path) -> float:
    """Peak of `sublayer predict`."""
    command = [sys.executable, "-m", "sublayer", "predict", str(run), str(lines)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{' '.join(command)} ended with {process.returncode}"
    return mebibytes(usage.ru_maxrss)


def fresh(function: Any, *arguments: Any) -> Any:
    """function(*arguments) in a process that begins with it."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def main() -> None:
    args = arguments(__doc__ or "", rounds=1, threads=1).parse_args()
    size = QUICK if args.quick else SIZES[args.config]
    scale = 10 if args.quick else 1
    warm, more, few, many = WARM // scale, MORE // scale, FEW // scale, MANY // scale
    rows = []
    for number in range(args.rounds):
        before, after = fresh(train, args.config, size, args.pairs, args.seed + number, warm, more, args.threads)
        rows.append((f"training, after {warm} and {warm + more} updates", before, after, "under +2 %"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fresh(make_run, folder / "run")
        for count in (few, many):
            write_lines(folder / f"{count}.txt", count)
        for _ in range(args.rounds):
            before, after = (predict(folder / "run", folder / f"{count}.txt") for count in (few, many))
            rows.append((f"predict, {few:,} and {many:,} lines", before, after, "within ± 10 %"))
    print(f"### Memory, {'tiny models' if args.quick else args.config}\n")
    header = ("peak resident size", "first, MiB", "then, MiB", "change", "goal")
    told = [(what, f"{a:,.0f}", f"{b:,.0f}", f"{b / a - 1:+.1%}", goal) for what, a, b, goal in rows]
    print(table(header, told))
    print(f"\n{machine(('sublayer', 'torch'), threads=args.threads, seed=args.seed)}.")


if __name__ == "__main__":
    main()
