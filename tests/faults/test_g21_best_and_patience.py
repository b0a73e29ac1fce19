"""G21: the best checkpoint by the wrong direction; patience that works with one schedule only."""

import json
from functools import partial

import pytest
import torch
from tests.runs import Heard, tiny_recipe, words, write_pairs
from torch import nn

from sublayer.errors import ConfigError
from sublayer.evaluate import METRICS, direction
from sublayer.models.store import load_tensors
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe
from sublayer.train.loss import cross_entropy
from sublayer.train.optim import optimizer
from sublayer.train.plan import Limits, Watch
from sublayer.train.schedule import SCHEDULES
from sublayer.train.state import checkpoints
from sublayer.train.trainer import Trainer

SCORES = [10.0, 20.0, 15.0, 14.0, 13.0]


class One:
    def epoch(self, number):
        return [0]

    def make(self, row):
        return torch.ones(2, 3)


def loss(model, x):
    return cross_entropy(model(x), torch.tensor([0, 1]))


def trainer(folder, schedule, higher=True, scores=SCORES, metric="bleu"):
    model, left, seen = nn.Linear(3, 2), iter(scores), []

    def validate():
        seen.append(model.weight.detach().clone())
        return {metric: next(left)}

    made = Trainer(
        model,
        loss,
        One(),
        partial(optimizer, kind="adam"),
        SCHEDULES[schedule](0.1, 1, 100),
        Limits(steps=100, validate_every=2, save_every=2),
        folder=folder,
        listener=Heard(),
        validate=validate,
        watch=Watch(metric, higher, patience=2),
    )
    return made, seen


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_ten_twenty_fifteen_fourteen_stops_and_keeps_the_second(tmp_path, schedule):
    run, seen = trainer(tmp_path, schedule)
    at = run.run()
    assert len(seen) == 4 and at.step == 8
    assert (at.best, at.best_step, at.waited) == (20.0, 4, 2)
    assert load_tensors(tmp_path / "model.safetensors")["weight"].equal(seen[1])
    assert run.listener.messages == ["Stopped: bleu has not been better than 20.0000 (step 4) for 2 validations."]


def test_downwards_the_first_is_best(tmp_path):
    run, seen = trainer(tmp_path, "constant", higher=False)
    assert (run.run().best, len(seen)) == (10.0, 3)


def test_an_equal_score_is_not_better(tmp_path):
    run, seen = trainer(tmp_path, "constant", scores=[10.0, 10.0, 10.0])
    assert (run.run().best_step, len(seen)) == (2, 3)


def test_a_run_that_stopped_early_stays_stopped(tmp_path):
    trainer(tmp_path, "constant")[0].run()
    again, seen = trainer(tmp_path, "constant")
    again.resume(checkpoints(tmp_path / "checkpoints")[-1])
    again.run()
    assert seen == [] and again.listener.messages == ["Nothing is left to do: the run ended at step 8."]


def test_patience_is_counted_on_after_a_resume(tmp_path):
    run, seen = trainer(tmp_path, "constant")
    run.limits = Limits(steps=6, validate_every=2, save_every=2)
    run.run()
    again, more = trainer(tmp_path, "constant", scores=SCORES[3:])
    again.resume(checkpoints(tmp_path / "checkpoints")[-1])
    assert (again.run().step, len(more)) == (8, 1)


@pytest.mark.parametrize("metric", METRICS)
def test_a_run_watches_each_metric_in_its_direction(tmp_path, metric):
    train, valid = write_pairs(tmp_path / "a.tsv", words()[:20]), write_pairs(tmp_path / "b.tsv", words()[20:26])
    decoded = [] if metric in ("loss", "perplexity") else [metric]
    fit(
        tiny_recipe(train, valid, steps=6, validate_every=2, validate_metrics=decoded, metric=metric),
        tmp_path / "run",
        Heard(),
    )
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text("utf-8").splitlines()]
    scores = {line["step"]: line[f"valid_{metric}"] for line in lines if "valid_loss" in line}
    best = (max if direction(metric) else min)(scores.values())
    assert lines[-1]["best"] == best
    assert lines[-1]["best_step"] == next(step for step, score in scores.items() if score == best)


def test_an_unknown_metric_is_an_error_before_data_is_read():
    for values in ({"metric": "blue"}, {"validate_metrics": ["blue"]}):
        with pytest.raises(ConfigError, match="metric 'blue' is unknown. Did you mean 'bleu'?"):
            make_recipe({"data": {"train": "nowhere.tsv"}, "train": values}, origin="o")
