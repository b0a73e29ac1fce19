"""G42: the input was read to its end before the first output."""

import os
import subprocess
import sys
from itertools import count, islice

from tests.runs import reverse_run, reverse_task

from sublayer.data import Pair
from sublayer.tasks.translate import WINDOW
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
    code = "from sublayer.cli.main import run; run()"
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    args = [sys.executable, "-c", code, "predict", str(reverse_run())]
    with subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        process.stdin.write(b"ab\n" * WINDOW)
        process.stdin.flush()
        assert process.stdout.readline() == b"ba\n"  # standard input is still open
        process.stdin.close()
        assert process.stdout.read() == b"ba\n" * (WINDOW - 1)


def test_what_is_summed_up_holds_no_graph():
    import torch

    loss = cross_entropy(torch.randn(3, 4, requires_grad=True) * 2, torch.tensor([0, 1, 2]))
    assert loss.nll.grad_fn is None
