"""A process that is killed anywhere and resumed has the files of one that was not, to the bit."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.runs import words, write_pairs

RECIPE = """
data: {train: train.tsv, valid: valid.tsv}
text: {source: {kind: char}, target: {kind: char}}
model: {d_model: 16, num_heads: 2, encoder_layers: 1, decoder_layers: 1, d_ff: 32, dropout: 0.1}
train: {steps: 600, batch_tokens: 40, accumulate: 2, warmup: 20, validate_metrics: [exact], metric: exact,
        log_every: 5, validate_every: 200, save_every: 15, keep: 2}
"""
SUBLAYER = [sys.executable, "-c", "from sublayer.cli.main import run; run()"]
ENV = os.environ | {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recipe, its data, and in `whole` the run that nothing has stopped."""
    folder = tmp_path_factory.mktemp("kill")
    write_pairs(folder / "train.tsv", words()[:200])
    write_pairs(folder / "valid.tsv", words()[200:230])
    (folder / "r.yaml").write_text(RECIPE, encoding="utf-8")
    with sublayer(folder, "r.yaml", "--out", "whole") as whole:
        told = whole.stderr.read().decode()
        assert whole.wait() == 0, told
    return folder


def heed_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell starts its background jobs with SIGINT ignored


def sublayer(folder, *args):
    command = [*SUBLAYER, "train", *args]
    return subprocess.Popen(command, cwd=folder, env=ENV, stderr=subprocess.PIPE, preexec_fn=heed_interrupts)


def files(folder):
    found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    for name in [name for name in found if name.endswith("SHA256SUMS")]:
        found[name] = [line for line in found[name].splitlines() if not line.endswith(b"state.json")]
    for name in [name for name in found if name.endswith("state.json")]:
        found[name] = json.loads(found[name])
        found[name]["position"].pop("seconds")
    return found


def wait_for_a_checkpoint(run, process):
    while not list((run / "checkpoints").glob("step-*")):
        assert process.poll() is None
        time.sleep(0.01)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    ("sign", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_killed_and_resumed_is_uninterrupted(folder, sign, code):
    parts = folder / f"parts{code}"
    with sublayer(folder, "r.yaml", "--out", parts) as process:
        wait_for_a_checkpoint(parts, process)
        process.send_signal(sign)
        told = process.stderr.read().decode()
        assert process.wait() == code
    if sign != signal.SIGKILL:
        assert "Asked to stop: all is saved as of step " in told and "Traceback" not in told
        assert f"Stopped. Go on with: sublayer train --resume --out {parts}\n" in told
    with sublayer(folder, "--resume", "--out", parts) as process:
        told = process.stderr.read().decode()
        assert process.wait() == 0
    assert "Continuing from step-" in told and "Nothing is left" not in told
    found, expected = files(parts), files(folder / "whole")
    assert found.keys() == expected.keys()
    for name, content in expected.items():
        assert found[name] == content, name
