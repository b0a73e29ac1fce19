"""G42: the input was read to its end before the first output."""

import os
import subprocess
import sys
from itertools import count, islice

import torch
from tests.runs import reverse_run, reverse_task

from sublayer.data import Pair
from sublayer.tasks.given import WINDOW
from sublayer.train.loss import cross_entropy


def test_answers_and_scores_come_from_an_endless_input():
    task, taken = reverse_task(), []

    def lines():
        for _ in count():
            taken.append(1)
            yield "abc"

    answers = list(islice(task.predict(lines(), window=8), 20))
    assert [found[0].text for found in answers] == ["cba"] * 20
    assert len(taken) == 24
    del taken[:]
    scores = list(islice(task.score(Pair(line, "cba", 1) for line in lines()), 3))
    assert len(scores) == 3 and len(taken) == WINDOW


def test_the_command_line_answers_before_its_input_ends():
    args = [sys.executable, "-c", "from sublayer.cli.main import run; run()", "predict", str(reverse_run())]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    lines = 4 * WINDOW  # more output than a pipe's buffer in Python holds back
    with subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        process.stdin.write(b"ab\n" * lines)
        process.stdin.flush()
        assert process.stdout.readline() == b"ba\n"  # standard input is still open
        process.stdin.close()
        assert process.stdout.read() == b"ba\n" * (lines - 1)


def test_what_is_summed_up_holds_no_graph():
    loss = cross_entropy(torch.randn(3, 4, requires_grad=True) * 2, torch.tensor([0, 1, 2]))
    assert loss.nll.grad_fn is None
