"""torchrun starts a run anew whose process was killed, and it ends as one that nothing has stopped."""

import json
import os
import signal
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
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--max-restarts=1"]


def second(launcher):
    """The process of rank 1."""
    for found in Path("/proc").glob("[0-9]*"):
        try:
            if (
                f"PPid:\t{launcher}\n" in (found / "status").read_text()
                and b"RANK=1\0" in (found / "environ").read_bytes()
            ):
                return int(found.name)
        except OSError:
            continue
    raise AssertionError("there is no process of rank 1")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found in /proc")
def test_a_killed_process_is_started_anew_and_the_run_goes_on(tmp_path):
    pairs = write_pairs(tmp_path / "train.tsv", words()[:80])
    settings = dict(steps=120, batch_tokens=32, save_every=10, log_every=5)
    write_recipe(tiny_recipe(pairs, model=dict(dropout=0.0), **settings), tmp_path / "recipe.yaml")
    env = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    train = ["-m", "sublayer", "train", str(tmp_path / "recipe.yaml"), "--out", str(tmp_path / "run")]
    with subprocess.Popen([*TORCHRUN, *train], env=env, stderr=subprocess.PIPE) as process:
        while not list((tmp_path / "run" / "checkpoints").glob("step-*")):
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(second(process.pid), signal.SIGKILL)
        told = process.stderr.read().decode()
        assert process.wait() == 0, told
    assert "Continuing from step-" in told
    heard = Heard()
    fit(tiny_recipe(pairs, model=dict(dropout=0.0), accumulate=2, **settings), tmp_path / "one", heard)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [line["step"] for line in heard.records]
    assert [line["loss"] for line in lines] == pytest.approx([line["loss"] for line in heard.records], abs=1e-4)
