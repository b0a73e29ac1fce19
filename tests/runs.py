"""Runs small enough for tests, and `sublayer ARGS…` inside this process."""

import atexit
import io
import itertools
import random
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import sublayer
from sublayer.cli.main import run
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

SPLIT = {"source": {"kind": "split"}, "target": {"kind": "split"}}
CHARS = {"source": {"kind": "char"}, "target": {"kind": "char"}}
TINY = dict(d_model=16, num_heads=2, encoder_layers=1, decoder_layers=1, d_ff=32, dropout=0.1)


class Heard:
    """A listener that remembers."""

    def __init__(self):
        self.steps, self.records, self.messages = [], [], []

    def step(self, progress):
        self.steps.append(progress)

    def record(self, line):
        self.records.append(line)

    def message(self, text):
        self.messages.append(text)


def words(letters="abcde", longest=4):
    """Every word of 1 to `longest` of these letters, in an order of its own."""
    every = ["".join(w) for n in range(1, longest + 1) for w in itertools.product(letters, repeat=n)]
    return random.Random(0).sample(every, len(every))


def write_pairs(path, sources, turn=lambda source: source[::-1]):
    """A TSV of each source and what becomes of it; its path."""
    path.write_text("".join(f"{source}\t{turn(source)}\n" for source in sources), encoding="utf-8", newline="\n")
    return path


def tiny_recipe(train, valid=None, *, text=CHARS, model=None, search=None, **settings):
    """Ten updates of a very small model, if `settings` (of the section train) say nothing else."""
    data = {"train": str(train)} | ({"valid": str(valid)} if valid else {})
    trained = dict(steps=10, batch_tokens=64, warmup=2, log_every=1, validate_every=4, save_every=4)
    trained |= {"validate_metrics": []} | settings
    model = TINY | (model or {})
    values = {"data": data, "text": text, "model": model, "train": trained, "search": search or {}}
    return make_recipe(values, origin="a test")


@cache
def reverse_run():
    """A run that has learned to turn letters round: its folder, with the held-out words in test.tsv."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    held_out = [word for word in words() if len(word) > 2][:150]
    short = [word for word in words() if len(word) < 3]  # there are few of them, so they come more often
    write_pairs(folder / "test.tsv", held_out[:100])
    valid = write_pairs(folder / "valid.tsv", held_out[100:])
    train = write_pairs(folder / "train.tsv", [*(word for word in words() if word not in held_out), *short * 3])
    settings = dict(steps=400, batch_tokens=512, learning_rate=5e-3, warmup=50, label_smoothing=0.0)
    watched = dict(validate_every=200, save_every=200, log_every=50, validate_metrics=["exact"])
    recipe = tiny_recipe(train, valid, model=dict(d_model=48, d_ff=128, dropout=0.0), **settings, **watched)
    fit(recipe, folder / "run", Heard())
    return folder / "run"


def reverse_task():
    return sublayer.load(reverse_run())


class Said(NamedTuple):
    code: int
    out: str
    err: str


def command(*args, stdin=b""):
    """What `sublayer ARGS…` says and the code it ends with."""
    held = sys.argv, sys.stdin, sys.stdout, sys.stderr
    sys.argv = ["sublayer", *map(str, args)]
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    sys.stdout, sys.stderr = out, err
    try:
        run()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = held
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    return Said(code, *texts)
