import io

from rich.console import Console

from sublayer.cli import console
from sublayer.cli.console import Terminal
from sublayer.train.report import Progress


def progress(step, left=90.0, gpu=0):
    return Progress(
        step=step,
        steps=1000,
        epoch=0,
        loss=1.2345,
        rate=1e-3,
        tokens_per_second=12345.6,
        spent=10.0,
        left=left,
        padding=0.081,
        memory=3 * 2**29,
        gpu=gpu,
    )


def told(terminal_like, hear):
    written = io.StringIO()
    terminal = Terminal()
    terminal.console = terminal.bar.live.console = Console(
        file=written, force_terminal=terminal_like, width=120, soft_wrap=True, highlight=False
    )
    with terminal:
        hear(terminal)
    return written.getvalue()


def test_without_a_terminal_a_plain_line_now_and_then(monkeypatch):
    def hear(terminal):
        for step in range(1, 100):
            terminal.step(progress(step))

    text = told(False, hear)
    assert text.startswith("step 1/1,000  loss 1.234  rate 1.00e-03  12,346 tokens/s  8% padding  1.5 GiB  1:30 left\n")
    assert text.count("step ") == 1  # the others came within ten seconds
    monkeypatch.setattr(console, "PLAIN_EVERY", 0.0)
    assert told(False, hear).count("step ") == 99


def test_validations_are_told_with_the_best_marked():
    def hear(terminal):
        terminal.record({"step": 50, "loss": 2.0, "rate": 0.1})
        terminal.record({"step": 100, "valid_loss": 0.51239, "valid_exact": 25.0, "best": 25.0, "best_step": 100})
        terminal.record({"step": 200, "valid_loss": 0.6, "valid_exact": 20.0, "best": 25.0, "best_step": 100})
        terminal.message("[bold] is no markup [/x]")

    lines = told(False, hear).splitlines()
    assert lines[:3] == [
        "validation at step 100: loss 0.5124  exact 25 (best)",
        "validation at step 200: loss 0.6  exact 20",
        "[bold] is no markup [/x]",
    ]


def test_a_terminal_has_a_bar():
    text = told(True, lambda terminal: terminal.step(progress(500, left=3700.0)))
    assert "step 500/1,000" in text and "1:01:40 left" in text and "━" in text


def test_the_memory_of_a_gpu_stands_beside_that_of_the_process():
    assert "  1.5 GiB  2.0 GiB of GPU  1:30 left" in told(False, lambda terminal: terminal.step(progress(1, gpu=2**31)))


def test_a_run_of_no_time_left_is_done():
    told(True, lambda terminal: terminal.step(progress(1000, left=0.0)))
