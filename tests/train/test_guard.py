import json

import pytest
import torch
from tests.train.conftest import Numbers, loss

from sublayer.errors import DivergedError
from sublayer.models.store import load_tensors
from sublayer.train.loss import Loss
from sublayer.train.state import checkpoints


class Poisoned(Numbers):
    """The fifth batch of the first epoch holds what is no number."""

    def make(self, rows):
        x, y = super().make(rows)
        return (x.masked_fill(torch.tensor(True), float("nan")), y) if len(self.made) == 5 else (x, y)


def test_a_loss_that_is_no_number_ends_the_run_with_the_batch_that_caused_it(trainer, tmp_path):
    batches = Poisoned()
    run = trainer(batches=batches, limits=dict(steps=10, accumulate=2, save_every=2))
    with pytest.raises(DivergedError) as error:
        run.run()
    failed = tmp_path / "run" / "failed"
    assert str(error.value) == (
        f"Step 3, epoch 0: the loss is nan. The batch and the weights that met it are in {failed}. Look at its rows; "
        "or lower train.learning_rate, warm up for longer, set train.clip to 1, and go on with --resume from the last "
        "checkpoint."
    )
    assert sorted(path.name for path in failed.iterdir()) == [
        "model.safetensors",
        "step-00000003-0-0.json",
        "step-00000003-0-0.safetensors",
    ]
    about = json.loads((failed / "step-00000003-0-0.json").read_text("utf-8"))
    assert about == {"step": 3, "epoch": 0, "rows": batches.made[4], "nll": "nan"}
    batch = load_tensors(failed / "step-00000003-0-0.safetensors")
    assert batch["batch.0"].isnan().all() and torch.equal(batch["batch.1"], batches.y[batches.made[4]])
    saved = load_tensors(checkpoints(tmp_path / "run" / "checkpoints")[-1] / "model.safetensors")
    kept = load_tensors(failed / "model.safetensors")
    assert all(torch.equal(kept[name], tensor) for name, tensor in saved.items())  # those of step 2


def test_so_does_a_gradient_that_is_none(trainer):
    def steep(model, batch):
        found = loss(model, batch)
        return Loss(found.total * torch.tensor(float("inf")), found.nll, found.count)

    with pytest.raises(DivergedError, match="Step 1, epoch 0: the norm of the gradient is (nan|inf)"):
        trainer(loss=steep).run()


def test_a_loss_that_runs_away_ends_the_run_where_that_is_asked_for(trainer):
    def rising(model, batch):
        found = loss(model, batch)
        return Loss(found.total, torch.tensor(4.0 * (1 + 2 * (run.at.step == 3))), found.count)

    run = trainer(loss=rising, rise=1.5, limits=dict(steps=6, accumulate=1))
    with pytest.raises(
        DivergedError, match="loss is 3.0000, and 1.0000 was the lowest: more than train.rise 1.5 above"
    ):
        run.run()
    assert run.at.lowest == 1.0
    run = trainer(loss=rising, rise=2.5, limits=dict(steps=6))
    assert run.run().step == 6
    run = trainer(loss=rising, limits=dict(steps=6))
    assert run.run().step == 6
