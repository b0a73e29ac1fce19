"""How long starting takes: imports and `sublayer --help`, each in a fresh process, interleaved."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from statistics import median

from setting import arguments, machine, spread, table

HELP = "import sys; sys.argv = ['sublayer', '--help']; from sublayer.cli.main import run; run()"
PROGRAMS = {
    "python, nothing imported": "pass",
    "import torch": "import torch",
    "import sublayer": "import sublayer",
    "from sublayer import Transformer": "from sublayer import Transformer",
    "from sublayer import *": "from sublayer import *",
    "sublayer --help": HELP,
    "import torch, MarianMTModel": "import torch; from transformers import MarianMTModel",
    "import x_transformers": "import x_transformers",
}
TORCH = "import torch"


def seconds(program: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def imports_torch(program: str) -> bool:
    """Whether torch is among the modules that Python lists as imported."""
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program], check=True, capture_output=True, encoding="utf-8"
    )
    return any(line.rpartition("|")[2].strip() == "torch" for line in found.stderr.splitlines())


def main() -> None:
    args = arguments(__doc__ or "", rounds=7).parse_args()
    rounds = 1 if args.quick else args.rounds
    measured: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for number in range(rounds + 1):
        for name in random.Random(number).sample(list(PROGRAMS), len(PROGRAMS)):
            taken = seconds(PROGRAMS[name])
            if number:  # round 0 fills the disk cache
                measured[name].append(taken)
    ratios = {
        name: [mine / torch for mine, torch in zip(taken, measured[TORCH], strict=True)]
        for name, taken in measured.items()
    }
    print("### Start-up\n")
    rows = [(f"`{name}`", spread(measured[name]), spread(ratios[name])) for name in PROGRAMS]
    print(table(("program", "seconds", f"÷ {TORCH}"), rows), "\n")
    print(f"- import sublayer: {median(ratios['import sublayer']):.2f} × import torch (goal at most 1.10)")
    parts = median(ratios["from sublayer import Transformer"])
    print(f"- from sublayer import Transformer: {parts:.2f} × import torch (goal at most 1.10)")
    loaded = "imports torch" if imports_torch(HELP) else "imports no torch"
    print(f"- sublayer --help: {median(measured['sublayer --help']):.2f} s (goal at most 0.5), {loaded}")
    print(f"\n{machine(('sublayer', 'torch', 'transformers', 'x-transformers'))}. Median of {rounds} rounds.")


if __name__ == "__main__":
    main()
