"""Runs of three tasks killed at random moments, again and again, until they are through: are they equal, to the bit, to
runs that nothing has stopped? Each kill is a SIGKILL in a part of the work that is drawn by chance.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setting import machine, table
from sublayer.tasks.fit import fit
from sublayer.tasks.jobs import JOBS, job_of
from sublayer.tasks.recipe_file import make_recipe
from sublayer.train.report import Listeners
from sublayer.train.trainer import Trainer

PARTS = {"an update": 20, "an epoch's border": 3, "a validation": 2, "keeping the best": 1, "a save": 3}
"""Where kills fall: each at most so many turns after a run goes on."""
MODEL = dict(d_model=16, num_heads=2, d_ff=32, dropout=0.1)
TRAIN = dict(steps=60, accumulate=2, warmup=5, log_every=1, validate_every=7, save_every=5, keep=2, schedule="linear")
LETTERS = "abcdef"


def recipe_of(task: str, folder: Path) -> Any:
    """A small recipe with its data in the folder."""
    draw = random.Random(task)
    words = ["".join(draw.choices(LETTERS, k=draw.randint(1, 6))) for _ in range(140)]
    files = {name: folder / f"{task}.{name}" for name in ("train", "valid")}
    for path, chosen in zip(files.values(), (words[:110], words[110:]), strict=True):
        path.write_text(text_of(task, chosen), encoding="utf-8")
    layers = {"translate": ("encoder_layers", "decoder_layers"), "tag": ("encoder_layers",)}
    model = MODEL | dict.fromkeys(layers.get(task, ("decoder_layers",)), 1)
    train = TRAIN | {"batch_tokens": 60} | ({"context": 10} if task == "complete" else {})
    values: dict[str, Any] = {"task": task, "data": {k: str(v) for k, v in files.items()}, "model": model}
    if task == "translate":
        values["text"] = {"source": {"kind": "char"}, "target": {"kind": "char"}}
        train |= {"validate_metrics": ["exact"], "metric": "exact", "ema": 0.9}
    return make_recipe(values | {"train": train}, origin="kill.py")


def text_of(task: str, words: list[str]) -> str:
    if task == "translate":
        return "".join(f"{word}\t{word[::-1]}\n" for word in words)
    if task == "tag":
        return "".join(f"{word}\t{'BIO'[len(word) % 3]}\n" + "\n" * (i % 4 == 3) for i, word in enumerate(words))
    return " ".join(words) + "\n"


class Shared:
    """How often each part of the work was begun, written by the child and read by its parent."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 4 * len(PARTS))

    def begun(self, part: str) -> int:
        return struct.unpack_from("I", self.memory, 4 * list(PARTS).index(part))[0]

    def begin(self, part: str) -> None:
        struct.pack_into("I", self.memory, 4 * list(PARTS).index(part), self.begun(part) + 1)

    def watch(self) -> None:
        """In the child: tell of each part that begins."""
        methods = {"_update": "an update", "_validate": "a validation", "_keep": "keeping the best", "_save": "a save"}
        for name, part in methods.items():
            setattr(Trainer, name, self._told(getattr(Trainer, name), part))
        for task in JOBS:
            job = type(job_of(task))
            job.batches = self._borders(job.batches)

    def _borders(self, make: Any) -> Any:
        def batches(*given: Any) -> Any:
            made = make(*given)
            made.epoch = self._told(made.epoch, "an epoch's border")
            return made

        return batches

    def _told(self, function: Any, part: str) -> Any:
        def told(*given: Any) -> Any:
            self.begin(part)
            return function(*given)

        return told


def start(recipe: Any, out: Path, shared: Shared) -> int:
    """The process that trains, from the beginning or from where it was."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            shared.watch()
            fit(recipe, out, Listeners([]), resume=(out / "recipe.yaml").exists())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def killed(child: int, shared: Shared, part: str, turn: int, wait: float) -> bool:
    """Kill it a moment after this part has begun for so many times; False where it was through before."""
    while shared.begun(part) < turn:
        if ended(child):
            return False
        time.sleep(0.002)
    time.sleep(wait)
    if ended(child):
        return False
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def ended(child: int) -> bool:
    done, status = os.waitpid(child, os.WNOHANG)
    if done and os.waitstatus_to_exitcode(status):
        sys.exit("A run has failed, see above.")
    return bool(done)


def files(folder: Path) -> dict[str, Any]:
    """All but the seconds that a run took, and the sum of the file that holds them."""
    found: dict[str, Any] = {}
    for path in (p for p in folder.rglob("*") if p.is_file()):
        content: Any = path.read_bytes()
        if path.name == "SHA256SUMS":
            content = [line for line in content.splitlines() if not line.endswith(b"state.json")]
        if path.name == "state.json":
            content = json.loads(content)
            content["position"].pop("seconds")
        found[path.relative_to(folder).as_posix()] = content
    return found


def kills(recipe: Any, out: Path, draw: random.Random) -> Iterator[str]:
    """One run, killed until it is through; where each kill fell."""
    while True:
        shared = Shared()
        child = start(recipe, out, shared)
        part = draw.choice(list(PARTS))
        if not killed(child, shared, part, draw.randint(1, PARTS[part]), draw.uniform(0, 0.02)):
            return
        yield part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw, fell = random.Random(args.seed), {task: Counter[str]() for task in ("translate", "tag", "complete")}
    runs = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recipes = {task: recipe_of(task, folder) for task in fell}
        for task, recipe in recipes.items():
            os.waitpid(start(recipe, folder / task, Shared()), 0)
        while sum(count.total() for count in fell.values()) < args.kills:
            task = min(fell, key=lambda task: fell[task].total())
            out = folder / f"{task}-{runs[task]}"
            for part in kills(recipes[task], out, draw):
                fell[task][part] += 1
            ours, theirs = files(out), files(folder / task)
            if wrong := [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]:
                sys.exit(f"{task}: after {fell[task].total()} kills {', '.join(wrong)} differ.")
            runs[task] += 1
            print(f"{task}: {fell[task].total()} kills in {runs[task]} runs", file=sys.stderr)
    print(f"### {sum(c.total() for c in fell.values())} kills, every one of {runs.total()} runs equal to the bit\n")
    header = ("killed in", *(f"{task}, {runs[task]} runs" for task in fell))
    print(table(header, [(part, *(str(fell[task][part]) for task in fell)) for part in PARTS]))
    print(f"\n{machine(('sublayer', 'torch'), threads=1, seed=args.seed)}.")


if __name__ == "__main__":
    main()
