"""G09, G28, G30, G41 and G42, every task: what a line gets knows nothing of its neighbours or of chance."""

import json
import random
from itertools import count, islice

import numpy as np
import pytest
import torch
from tests.small_tasks import SMALL, small

from sublayer.nn import Dropout
from sublayer.tasks.base import Written

HOW = Written(as_json=True)
every = pytest.mark.parametrize("kind", SMALL)


def told(task, lines, **options):
    return [json.loads(line) | {"line": 0} for line in task.write(lines, HOW, **options)]


def same(found, expected):
    """Words alike, numbers to 1e-5."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            same(*pair)
    else:
        assert found == (pytest.approx(expected, abs=1e-5) if isinstance(expected, float) else expected)


@every
def test_alone_together_and_in_any_order(kind):
    task, texts = small(kind)
    short, _, last = texts[1].rpartition("\t")
    lines = [*texts, texts[0], f"{short}\t{last} {last} {last}".lstrip("\t")]
    alone = [told(task, [line])[0] for line in lines]
    for window in (1, 3, 64):
        same(told(task, lines, window=window), alone)
    order = random.Random(0).sample(range(len(lines)), len(lines))
    same(told(task, [lines[i] for i in order]), [alone[i] for i in order])


@every
def test_six_lines_give_six(kind):
    task, (text, *_) = small(kind)
    lines = [text, "", text, "  ", text, ""]
    plain = list(task.write(lines, Written()))
    assert len(plain) == 6 and not any("\n" in line for line in plain)
    if kind != "complete":  # a text may begin with nothing
        assert [bool(line.strip()) for line in plain[1::2]] == [False] * 3
    assert plain[0] == plain[2] == plain[4] and list(task.write([], Written())) == []


@every
def test_nothing_is_dropped_or_drawn(kind):
    task, texts = small(kind)
    expected = told(task, texts)
    for part in task.model.modules():
        if isinstance(part, Dropout | torch.nn.Dropout):
            part.p = 0.5
    before = torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()
    task.model.train()
    assert told(task, texts) == expected == told(task, texts)
    assert before == (torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate())


@every
def test_answers_come_before_the_input_ends(kind):
    task, (text, *_) = small(kind)
    taken = []
    lines = (taken.append(n) or text for n in count())
    assert len(list(islice(task.write(lines, HOW, window=4), 6))) == 6 and len(taken) == 8
