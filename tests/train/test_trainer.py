import json
from itertools import pairwise

import pytest
import torch
from tests.train.conftest import Numbers, loss

from sublayer.models.store import load_tensors
from sublayer.train.plan import Watch
from sublayer.train.report import JsonLines
from sublayer.train.schedule import SCHEDULES, Linear
from sublayer.train.state import checkpoints


def weights(trainer):
    return torch.cat([p.detach().flatten() for p in trainer.model.parameters()])


def test_updates_epochs_and_rates_are_told_as_they_were(trainer):
    run = trainer(schedule=Linear, warmup=4, limits=dict(steps=10))
    at = run.run()
    assert (at.step, at.epoch, at.batch) == (10, 1, 4)  # 6 batches an epoch
    assert [p.step for p in run.listener.steps] == list(range(1, 11))
    assert [p.epoch for p in run.listener.steps] == [0] * 6 + [1] * 4
    rates = [line["rate"] for line in run.listener.records]
    assert rates == [run.schedule(step) for step in range(1, 11)] == [p.rate for p in run.listener.steps]


def test_every_example_is_seen_once_an_epoch_in_the_order_of_the_batches(trainer):
    batches = Numbers()
    trainer(batches=batches, limits=dict(steps=12)).run()
    assert batches.made == batches.epoch(0) + batches.epoch(1)


def test_an_update_of_several_batches_ends_with_its_epoch(trainer):
    batches = Numbers(batches=5)
    run = trainer(batches=batches, limits=dict(steps=6, accumulate=2))
    run.run()
    assert [p.epoch for p in run.listener.steps] == [0, 0, 0, 1, 1, 1]
    assert batches.made == batches.epoch(0) + batches.epoch(1)


def test_the_loss_that_is_told_is_a_mean_since_the_last_record(trainer):
    each = trainer(limits=dict(steps=6, log_every=1))
    each.run()
    three = trainer(limits=dict(steps=6, log_every=3))
    three.run()
    losses = [line["loss"] for line in each.listener.records]
    told = [line["loss"] for line in three.listener.records]
    assert told == pytest.approx([sum(losses[:3]) / 3, sum(losses[3:]) / 3])  # batches of one size


def test_gradients_are_clipped_by_their_mean(trainer):
    free, cut = (trainer(limits=dict(steps=1, clip=clip)) for clip in (0.0, 1e-9))
    start = weights(free).clone()
    free.run(), cut.run()
    # Adam's first step has the length of the rate whatever the gradient is, unless eps outweighs it.
    assert (weights(free) - start).abs().max() > 0.005
    assert (weights(cut) - start).abs().max() < 0.005


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("stop", [3, 4, 7])
def test_stopped_and_resumed_is_uninterrupted_to_the_bit(trainer, tmp_path, accumulate, stop):
    limits = dict(steps=11, accumulate=accumulate, save_every=stop, keep=9, log_every=2, clip=0.1)
    whole = trainer("whole", schedule=Linear, warmup=3, limits=limits)
    whole.run()
    again = trainer("whole", schedule=Linear, warmup=3, limits=limits)
    torch.rand(5)  # whatever has been drawn in between
    again.resume(checkpoints(tmp_path / "whole" / "checkpoints")[0])
    assert again.at.step == stop
    again.run()
    assert torch.equal(weights(again), weights(whole))
    assert again.batches.made == whole.batches.made[len(whole.batches.made) - len(again.batches.made) :]
    later = [line for line in whole.listener.records if line["step"] > stop]
    assert again.listener.records == later
    for ours, theirs in zip(again.model.parameters(), whole.model.parameters(), strict=True):
        for name, moment in whole.optimizer.state[theirs].items():
            assert torch.equal(again.optimizer.state[ours][name], moment)


def test_metric_lines_of_a_resumed_run_are_those_of_the_whole_one(trainer, tmp_path):
    limits = dict(steps=9, save_every=4, keep=9)
    run = trainer(listener=JsonLines(tmp_path / "a.jsonl"), limits=limits)
    run.run()
    whole = (tmp_path / "a.jsonl").read_bytes()
    again = trainer(listener=JsonLines(tmp_path / "a.jsonl", after=4), limits=limits)
    again.resume(checkpoints(tmp_path / "run" / "checkpoints")[0])
    again.run()
    assert (tmp_path / "a.jsonl").read_bytes() == whole
    assert [json.loads(line)["step"] for line in whole.splitlines()] == list(range(1, 10))


def scores(*values):
    """A validation that gives these, one after the other."""
    left = iter(values)
    return lambda: {"score": next(left)}


def test_the_best_weights_are_kept_whatever_the_checkpoints_are(trainer, tmp_path):
    states = []

    def validate():
        states.append(run.model[0].weight.clone())
        return {"score": [1.0, 3.0, 2.0, 2.0, 1.0][len(states) - 1]}

    run = trainer(validate=validate, watch=Watch("score", True), limits=dict(validate_every=2, save_every=2, keep=1))
    at = run.run()
    assert (at.best, at.best_step) == (3.0, 4)
    assert torch.equal(load_tensors(tmp_path / "run" / "model.safetensors")["0.weight"], states[1])
    assert [c.name for c in checkpoints(tmp_path / "run" / "checkpoints")] == ["step-00000010"]


def test_without_validation_the_last_weights_are_kept(trainer, tmp_path):
    run = trainer(limits=dict(steps=5))
    run.run()
    assert torch.equal(load_tensors(tmp_path / "run" / "model.safetensors")["0.weight"], run.model[0].weight)


def test_the_last_update_is_validated_and_saved_between_the_turns(trainer):
    run = trainer(validate=scores(1, 2), limits=dict(steps=5, validate_every=4, save_every=4), watch=Watch("score"))
    run.run()
    assert [line["step"] for line in run.listener.records if "valid_score" in line] == [4, 5]
    assert [c.name for c in checkpoints(run.folder / "checkpoints")] == ["step-00000005"]


def test_the_model_trains_on_after_a_validation(trainer):
    modes = []

    def validate():
        run.model.eval()
        return {"loss": 1.0}

    def watched(model, batch):
        modes.append(model.training)
        return loss(model, batch)

    run = trainer(validate=validate, loss=watched, limits=dict(steps=4, validate_every=1))
    run.run()
    assert modes == [True] * 4


def test_a_run_that_is_over_does_nothing_more_and_says_so(trainer, tmp_path):
    trainer(limits=dict(steps=4)).run()
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    again = trainer(limits=dict(steps=4))
    again.resume(checkpoints(tmp_path / "run" / "checkpoints")[0])
    again.run()
    assert again.listener.messages == ["Nothing is left to do: the run ended at step 4."]
    assert again.batches.made == [] and again.listener.records == []
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


class Clock:
    """Every look at it costs a second."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 1.0
        return self.now

    perf_counter = monotonic


def test_the_clock_ends_a_run_with_the_rate_come_down(trainer, monkeypatch):
    monkeypatch.setattr("sublayer.train.trainer.time", Clock())
    run = trainer(schedule=Linear, limits=dict(steps=1000, minutes=1.0))
    at = run.run()
    assert at.step < 60 and at.seconds >= 60
    assert run.listener.messages == [f"Stopped by the clock after 1 minutes, at step {at.step} of 1000."]
    rates = [p.rate for p in run.listener.steps]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 0.1 * rates[0]
    assert [c.name for c in checkpoints(run.folder / "checkpoints")] == [f"step-{at.step:08d}"]
    left = [p.left for p in run.listener.steps]
    assert all(late < early for early, late in pairwise(left[1:]))


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_rate_of_each_update_is_in_the_optimizer_when_it_steps(trainer, name):
    run = trainer(schedule=SCHEDULES[name], warmup=2, limits=dict(steps=4))
    used, step = [], run.optimizer.step

    def watched():
        used.append({group["lr"] for group in run.optimizer.param_groups})
        step()

    run.optimizer.step = watched
    run.run()
    assert used == [{run.schedule(n)} for n in range(1, 5)]
