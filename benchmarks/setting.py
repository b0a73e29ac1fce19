"""What every benchmark shares: sizes, lengths of real text, the machine, a table."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

import numpy as np

from sublayer.data import read_pairs

PAD, BOS, EOS, FIRST = 0, 2, 3, 4  # FIRST: the lowest id that is a word
CMUDICT = Path(__file__).parents[1] / "recipes" / "cmudict" / "train.tsv.gz"


@dataclass(frozen=True)
class Sizes:
    """Of an encoder-decoder and of what it reads and writes.

    write  how many tokens a decoding is forced to
    """

    d_model: int
    num_heads: int
    layers: int
    d_ff: int
    vocab: int
    write: int


SIZES = {
    "mt": Sizes(d_model=256, num_heads=4, layers=4, d_ff=1024, vocab=8000, write=20),
    "char": Sizes(d_model=128, num_heads=4, layers=3, d_ff=512, vocab=80, write=8),
}
QUICK = Sizes(d_model=16, num_heads=2, layers=1, d_ff=32, vocab=80, write=4)

Example = tuple[list[int], list[int]]


def examples(config: str, pairs: Path | None, vocab: int, count: int, seed: int) -> list[Example]:
    """Random ids, in pairs as long as those of real text, without specials."""
    random = np.random.default_rng(seed)
    lengths = _lengths(config, pairs, random)
    chosen = random.choice(len(lengths), size=count, replace=count > len(lengths))
    return [
        (random.integers(FIRST, vocab, source).tolist(), random.integers(FIRST, vocab, target).tolist())
        for source, target in lengths[chosen]
    ]


def _lengths(config: str, pairs: Path | None, random: np.random.Generator) -> np.ndarray:
    """(N, 2): of a file of pairs; without one those of CMUdict (char), or drawn like Multi30k's in BPE (mt)."""
    if config == "mt" and pairs is None:
        source = random.lognormal(np.log(14.2), 0.33, 20_000)
        target = source * random.lognormal(np.log(1.05), 0.18, 20_000)
        return np.stack([source, target], 1).round().astype(int).clip(3, 60)
    read = read_pairs(CMUDICT if pairs is None else pairs)
    source_length = len if config == "char" else _words
    return np.array([(source_length(pair.source), _words(pair.target)) for pair in read])


def _words(text: str) -> int:
    return len(text.split())


def arguments(about: str, *, rounds: int, threads: int | None = None) -> argparse.ArgumentParser:
    """The options that every benchmark has; `threads`: how many where it can choose."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--rounds", type=int, default=rounds, help=f"interleaved rounds, {rounds} by default")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run at all?")
    if threads is not None:
        parser.add_argument("--threads", type=int, default=threads, help=f"of torch, {threads} by default")
        parser.add_argument("--config", choices=SIZES, default="mt", help="sizes of model and text, mt by default")
        parser.add_argument("--pairs", type=Path, help="TSV of source and target whose lengths to take")
        parser.add_argument("--seed", type=int, default=1)
    return parser


def machine(packages: Iterable[str], *, threads: int | None = None, seed: int | None = None) -> str:
    """One line: what was run on what."""
    said = [_processor(), f"{os.cpu_count()} cores", f"Python {platform.python_version()}"]
    said += [f"{package} {_version(package)}" for package in packages]
    said += [] if threads is None else [f"threads {threads}"]
    said += [] if seed is None else [f"seed {seed}"]
    return ", ".join(said)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def spread(values: Sequence[float], form: str = ".2f") -> str:
    """`median (least to most)`."""
    return f"{median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown; the first column is words, the others numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
