"""How long loading weights of BERT-base's size takes and how much memory it needs: sublayer and transformers, each in
a fresh process, interleaved. The file is in the system's cache.

Memory is what the process owns, and what it maps of files, from before `from_pretrained` to after it, and after one
text has gone through the model.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from setting import arguments, machine, spread, table

READ = """
import json, re, sys, time
import torch
{imports}

def held():
    said = open("/proc/self/smaps_rollup").read()
    kib = {{name: int(n) for name, n in re.findall(r"(\\w+): +(\\d+) kB", said)}}
    return {{"own": kib["Anonymous"] / 1024, "mapped": (kib["Rss"] - kib["Anonymous"]) / 1024}}

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024

before, top = held(), peak()
started, worked = time.perf_counter(), time.process_time()
model = {load}
taken, worked = time.perf_counter() - started, time.process_time() - worked
after, loaded = held(), peak()
with torch.inference_mode():
    model(torch.arange(5, 25)[None])
used, run = held(), peak()
print(json.dumps({{
    "seconds": taken, "cpu": worked, "ready": time.perf_counter() - started,
    "own": after["own"] - before["own"], "own_used": used["own"] - before["own"],
    "peak": loaded - top, "peak_used": run - top,
}}))
"""
LOADERS = {
    "sublayer": ("from sublayer.interop.pretrained import from_pretrained", "from_pretrained(sys.argv[1]).model"),
    "transformers": ("from transformers import BertModel", "BertModel.from_pretrained(sys.argv[1]).eval()"),
}


def write(folder: Path, *, quick: bool) -> float:
    """Random weights as transformers saves them; MiB of the file."""
    from transformers import BertConfig, BertModel

    sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64) if quick else {}
    BertModel(BertConfig(**sizes)).save_pretrained(folder)
    return (folder / "model.safetensors").stat().st_size / 2**20


def measure(name: str, folder: Path) -> dict[str, float]:
    imports, load = LOADERS[name]
    program = READ.format(imports=imports, load=load)
    made = subprocess.run(
        [sys.executable, "-c", program, str(folder)], check=True, capture_output=True, encoding="utf-8"
    )
    held: dict[str, float] = json.loads(made.stdout.splitlines()[-1])
    return held


def main() -> None:
    args = arguments(__doc__ or "", rounds=7).parse_args()
    rounds = 1 if args.quick else args.rounds
    found: dict[str, list[dict[str, float]]] = {name: [] for name in LOADERS}
    with tempfile.TemporaryDirectory() as place:
        size = write(Path(place), quick=args.quick)
        for number in range(rounds + 1):
            for name in random.Random(number).sample(list(LOADERS), len(LOADERS)):
                held = measure(name, Path(place))
                if number:  # round 0 fills the disk cache
                    found[name].append(held)
    print(f"### Loading, a file of {size:,.0f} MiB\n")
    columns = ("seconds", "cpu", "ready", "own", "own_used", "peak", "peak_used")
    header = ("", "seconds", "of a CPU", "with one text", "own MiB", "after one text", "peak MiB", "after one text")
    rows = [
        (name, *(spread([held[c] for held in helds], ".2f" if i < 3 else ",.0f") for i, c in enumerate(columns)))
        for name, helds in found.items()
    ]
    print(table(header, rows), "\n")
    for what, goal in (("seconds", "goal at most 1.2"), ("cpu", "of a CPU"), ("ready", "with one text")):
        ratios = [a[what] / b[what] for a, b in zip(found["sublayer"], found["transformers"], strict=True)]
        print(f"- time ÷ transformers': {spread(ratios)} ({goal})")
    own = median(held["own"] for held in found["sublayer"])
    most = median(held["peak"] for held in found["sublayer"])
    print(
        f"- sublayer owns {own / size:.2f} of the file's size after loading, peak {most / size:.2f} (goal: at most 1)"
    )
    print(f"\n{machine(('sublayer', 'torch', 'transformers', 'safetensors'))}. Median of {rounds} rounds.")


if __name__ == "__main__":
    main()
