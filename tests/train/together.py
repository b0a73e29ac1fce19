"""What each of two processes does in test_parallel.py: `torchrun … together.py FOLDER`. The first writes what came out.

One start of two processes runs every case: starting them costs more than all cases together.
"""

import json
import sys
from functools import partial
from pathlib import Path

import torch

from sublayer.data.batch import PairBatch
from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.tasks.teaching import logits_and_labels, translation_loss
from sublayer.train.around import Bfloat16, Recomputed
from sublayer.train.compared import Twice
from sublayer.train.moving import Average, Moving
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


LOSSES = {
    "fp32": partial(translation_loss, smoothing=0.1),
    "bf16": Bfloat16(partial(translation_loss, smoothing=0.1), "cpu"),
    "twice": Twice(logits_and_labels, 2.0, 0.1),
    "saving": Recomputed(partial(translation_loss, smoothing=0.1, chunk=5)),
}


def trainer(folder, world, steps, kind="fp32", validate=False):
    """Of the kind `saving`: layers computed again, the loss in chunks, a moving mean that is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    made = model()

    @torch.inference_mode()
    def measure():
        found = translation_loss(made.eval(), Pairs().make(0))
        return {"loss": float(found.nll) / found.count}

    accumulate = ACCUMULATE if world.size == 2 else 2 * ACCUMULATE
    return Trainer(
        made,
        LOSSES[kind],
        Pairs(),
        partial(optimizer, kind="adamw", weight_decay=0.01),
        Linear(0.01, 3, 100),
        Limits(steps=steps, accumulate=accumulate, log_every=1, validate_every=4, save_every=3, keep=9),
        folder=folder,
        listener=Heard(),
        validate=measure if validate else None,
        world=world,
        average=partial(Moving, decay=0.9) if kind == "saving" else Average,
    )


def losses(run):
    return [line["loss"] for line in run.listener.lines if "loss" in line]


def resumed(folder, world, at, steps, into, kind="fp32"):
    """From a checkpoint of `folder` on, into another folder."""
    run = trainer(into, world, steps, kind)
    run.resume(checkpoints(folder / "checkpoints")[at])
    run.run()
    return losses(run)


def main(folder):
    from sublayer.train.parallel import Replicated, Sharded

    torch.set_num_threads(1)
    found = {}
    for name, world in (("replicated", Replicated), ("sharded", Sharded)):
        for kind in LOSSES:
            run = trainer(folder / f"{name}-{kind}", world(torch.device("cpu")), 9, kind, validate=True)
            run.run()
            found[f"{name}-{kind}"] = losses(run)
            found[f"{name}-{kind}-valid"] = [x["valid_loss"] for x in run.listener.lines if "valid_loss" in x]
        again = folder / f"{name}-again"
        found[f"{name}-resumed"] = resumed(folder / f"{name}-fp32", world(torch.device("cpu")), 0, 9, again)
        saving = folder / f"{name}-saving"
        again = folder / f"{name}-saving-again"
        found[f"{name}-saving-resumed"] = resumed(saving, world(torch.device("cpu")), 0, 9, again, "saving")
        found[f"{name}-from-one"] = resumed(folder / "alone", world(torch.device("cpu")), 0, 9, folder / f"{name}-1")
    if world(torch.device("cpu")).rank == 0:
        (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
