"""What each of two processes does in test_parallel.py: `torchrun … together.py FOLDER`. The first writes what came out.

One start of two processes runs every case: starting them costs more than all cases together.
"""

import json
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import torch
from torch import nn

from sublayer.data.batch import PairBatch
from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.tasks.teaching import translation_loss
from sublayer.train.optim import optimizer
from sublayer.train.plan import Limits
from sublayer.train.schedule import Linear
from sublayer.train.state import checkpoints
from sublayer.train.trainer import Trainer

BATCHES, ACCUMULATE = 7, 2  # an epoch's last update has three batches for two processes


class Heard:
    def __init__(self):
        self.lines = []

    def step(self, progress): ...

    def record(self, line):
        self.lines.append(line)

    def message(self, text): ...


class Pairs:
    """Seven batches of very unequal numbers of tokens."""

    def epoch(self, number):
        return torch.randperm(BATCHES, generator=torch.Generator().manual_seed(number)).tolist()

    def make(self, number):
        draw = torch.Generator().manual_seed(number)
        rows = [torch.randint(4, 11, (n + 1,), generator=draw).tolist() for n in range(1, 2 + 2 * number)]
        return PairBatch.of(rows, [row[::-1] for row in rows], pad_ids=(0, 0), bos=2, eos=(3, 3))


def model():
    torch.manual_seed(0)
    sizes = dict(source_vocab=11, target_vocab=11, d_model=16, num_heads=4, d_ff=24, encoder_layers=1, decoder_layers=1)
    return build(ModelConfig(**sizes, dropout=0.0, tie="target"))


def trainer(folder, world, steps, precision="fp32", validate=False):
    folder.mkdir(parents=True, exist_ok=True)
    made = model()

    def loss(model: nn.Module, batch):
        with torch.autocast("cpu", torch.bfloat16) if precision == "bf16" else nullcontext():
            return translation_loss(model, batch, 0.1)

    @torch.inference_mode()
    def measure():
        found = translation_loss(made.eval(), Pairs().make(0))
        return {"loss": float(found.nll) / found.count}

    accumulate = ACCUMULATE if world.size == 2 else 2 * ACCUMULATE
    return Trainer(
        made,
        loss,
        Pairs(),
        partial(optimizer, kind="adamw", weight_decay=0.01),
        Linear(0.01, 3, 100),
        Limits(steps=steps, accumulate=accumulate, log_every=1, validate_every=4, save_every=3, keep=9),
        folder=folder,
        listener=Heard(),
        validate=measure if validate else None,
        world=world,
    )


def losses(run):
    return [line["loss"] for line in run.listener.lines if "loss" in line]


def resumed(folder, world, at, steps, into):
    """From a checkpoint of `folder` on, into another folder."""
    run = trainer(into, world, steps)
    run.resume(checkpoints(folder / "checkpoints")[at])
    run.run()
    return losses(run)


def main(folder):
    from sublayer.train.parallel import Replicated, Sharded

    torch.set_num_threads(1)
    found = {}
    for name, world in (("replicated", Replicated), ("sharded", Sharded)):
        for precision in ("fp32", "bf16"):
            run = trainer(folder / f"{name}-{precision}", world(torch.device("cpu")), 9, precision, validate=True)
            run.run()
            found[f"{name}-{precision}"] = losses(run)
            found[f"{name}-{precision}-valid"] = [x["valid_loss"] for x in run.listener.lines if "valid_loss" in x]
        again = folder / f"{name}-again"
        found[f"{name}-resumed"] = resumed(folder / f"{name}-fp32", world(torch.device("cpu")), 0, 9, again)
        found[f"{name}-from-one"] = resumed(folder / "alone", world(torch.device("cpu")), 0, 9, folder / f"{name}-1")
    if world(torch.device("cpu")).rank == 0:
        (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
