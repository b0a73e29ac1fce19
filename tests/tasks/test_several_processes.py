"""`sublayer train --nproc 2`: its own launcher, one folder, one log."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.runs import Heard, tiny_recipe, words, write_pairs

import sublayer
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import write_recipe

SOURCE = Path(sublayer.__file__).parents[1]


def train(*args):
    env = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "sublayer", "train", *map(str, args)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)


def losses(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line], [
        line["valid_loss"] for line in lines if "step" in line and "valid_loss" in line
    ]


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_two_processes_lose_what_one_does_with_twice_the_batches_an_update(tmp_path, parallel):
    pairs = write_pairs(tmp_path / "train.tsv", words()[:80])
    valid = write_pairs(tmp_path / "valid.tsv", words()[80:100])
    settings = dict(steps=8, batch_tokens=32, validate_every=4, save_every=4, log_every=1)
    alone = tiny_recipe(pairs, valid, model=dict(dropout=0.0), accumulate=2, **settings)
    together = tiny_recipe(pairs, valid, model=dict(dropout=0.0), parallel=parallel, **settings)
    write_recipe(together, tmp_path / "recipe.yaml")
    said = train(tmp_path / "recipe.yaml", "--out", tmp_path / "two", "--nproc", 2)
    assert said.returncode == 0, said.stderr
    assert said.stderr.count("Done: ") == 1 and said.stderr.count("pairs, 0 left out") == 2
    fit(alone, tmp_path / "one", Heard())
    for ours, theirs in zip(losses(tmp_path / "two"), losses(tmp_path / "one"), strict=True):
        assert len(ours) and ours == pytest.approx(theirs, abs=1e-5)
    again = train("--resume", "--out", tmp_path / "two", "--nproc", 2)
    assert again.returncode == 0 and "Nothing is left to do: the run ended at step 8." in again.stderr


def test_asked_to_stop_both_save_and_leave(tmp_path):
    pairs = write_pairs(tmp_path / "train.tsv", words()[:80])
    write_recipe(tiny_recipe(pairs, steps=100_000, batch_tokens=32, save_every=20), tmp_path / "recipe.yaml")
    env = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    run = ["train", str(tmp_path / "recipe.yaml"), "--out", str(tmp_path / "run"), "--nproc", "2"]
    with subprocess.Popen([sys.executable, "-m", "sublayer", *run], env=env, stderr=subprocess.PIPE) as process:
        while not list((tmp_path / "run" / "checkpoints").glob("step-*")):
            assert process.poll() is None
            time.sleep(0.05)
        process.terminate()
        told = process.stderr.read().decode()
        assert process.wait(60) == 143, told
    assert told.count("Asked to stop: all is saved as of step ") == 1 and "Traceback" not in told
    step = re.search(r"as of step (\d+)", told)[1]
    assert f"step-{int(step):08d}" in os.listdir(tmp_path / "run" / "checkpoints")


def test_an_error_ends_both_with_its_message_and_its_code(tmp_path):
    said = train("--train", tmp_path / "none.tsv", "--out", tmp_path / "run", "--nproc", 2)
    assert said.returncode == 2 and "none.tsv" in said.stderr and "Traceback" not in said.stderr
