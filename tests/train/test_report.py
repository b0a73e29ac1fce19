import gc
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.runs import Heard
from tests.train.conftest import Numbers, loss

from sublayer.train.report import JsonLines, Listeners, Progress, resident

PROGRESS = Progress(step=1, steps=2, epoch=0, loss=1.0, rate=0.1, tokens_per_second=5.0, spent=1.0, left=1.0)


def test_all_listeners_hear_all():
    one, two = Heard(), Heard()
    both = Listeners([one, two])
    both.step(PROGRESS)
    both.record({"step": 1})
    both.message("hello")
    for heard in (one, two):
        assert (heard.steps, heard.records, heard.messages) == ([PROGRESS], [{"step": 1}], ["hello"])


def test_a_record_is_a_line_at_once(tmp_path):
    lines = JsonLines(tmp_path / "metrics.jsonl")
    lines.record({"step": 1, "loss": 2.5, "name": "größer"})
    assert (tmp_path / "metrics.jsonl").read_bytes() == '{"step": 1, "loss": 2.5, "name": "größer"}\n'.encode()
    lines.record({"step": 2})
    lines.step(PROGRESS)
    lines.message("not kept")
    steps = [json.loads(line)["step"] for line in (tmp_path / "metrics.jsonl").read_text("utf-8").split("\n")[:-1]]
    assert steps == [1, 2]


def test_lines_that_will_be_written_again_are_dropped_and_so_is_half_a_line(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 5}\n{"step": 10, "valid_loss": 1}\n{"step": 15}\n{"step": 1')
    JsonLines(path, after=10).record({"step": 11})
    assert path.read_bytes() == b'{"step": 5}\n{"step": 10, "valid_loss": 1}\n{"step": 11}\n'
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_run_may_start_without_the_file(tmp_path):
    JsonLines(tmp_path / "metrics.jsonl", after=0)
    assert not (tmp_path / "metrics.jsonl").exists()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="told by Linux alone")
def test_resident_memory_grows_by_what_is_held():
    gc.collect()
    before = resident()
    held = bytearray(2**28)
    held[::4096] = b"x" * (2**28 // 4096)
    assert 2**27 <= resident() - before <= 2**29  # others may give some back at the same time


def test_a_run_tells_padding_and_memory(trainer):
    class Half(Numbers):
        def make(self, rows):
            return *super().make(rows), SimpleNamespace(places=8, filled=6)

    run = trainer(batches=Half(), loss=lambda model, batch: loss(model, batch[:2]), limits=dict(steps=3))
    run.run()
    assert [(p.padding, p.memory > 0) for p in run.listener.steps] == [(0.25, resident() > 0)] * 3
