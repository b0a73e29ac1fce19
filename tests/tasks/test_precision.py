import pytest
import torch
from tests.runs import reverse_task, words

from sublayer.data import Pair
from sublayer.models import inference
from sublayer.tasks.precision import cost

LINES = ["", *words()[:9], "   "]


@pytest.fixture
def forms(monkeypatch):
    monkeypatch.setattr(inference, "LARGE", 0)
    task = reverse_task()
    return task.for_inference(), task.for_inference(quantize="int8")


def test_it_is_what_the_two_say_of_the_same_answers(forms):
    exact, quantized = forms
    answers = [[found[0] for found in task.predict(LINES)] for task in forms]
    pairs = [Pair(line, a.text, n) for n, (line, a) in enumerate(zip(LINES, answers[0], strict=True)) if line.strip()]
    scored = [[s for s in task.score(pairs)] for task in forms]
    tokens = sum(len(s.tokens) for s in scored[0])
    change = (sum(s.logp for s in scored[1]) - sum(s.logp for s in scored[0])) / tokens
    found = cost(exact, quantized, LINES)
    assert found.logp == pytest.approx(change, abs=1e-6) and found.logp != 0
    assert found.lines == 9
    assert found.identical == sum(a.tokens == b.tokens for a, b in zip(*answers, strict=True)) - 2


def test_it_sees_a_map_that_is_spoilt(forms):
    exact, spoilt = forms
    part = spoilt.model.project
    part.bias = part.bias + torch.linspace(0, 40, len(part.bias))
    found = cost(exact, spoilt, LINES)
    assert found.identical < 9 and found.logp < -1
    assert str(found).startswith(
        f"int8: {found.maps} of {found.maps} linear maps; on 9 lines the log-probability of a token changes by "
        f"{found.logp:.4f}, {found.identical} of 9 greedy answers stay the same"
    )


def test_a_small_model_stays_as_it_is():
    task = reverse_task()
    found = cost(task.for_inference(), task.for_inference(quantize="int8"), LINES)
    assert (found.maps, found.logp, found.identical, found.lines) == (0, 0.0, 9, 9)
    assert (
        str(found)
        == f"int8: none of {found.of} linear maps has 1,048,576 weights, from where it is faster; all stay fp32"
    )


def test_without_lines_there_is_nothing_to_compare(forms):
    found = cost(*forms, ["", " "])
    assert (found.logp, found.identical, found.lines) == (0.0, 0, 0) and found.maps == found.of > 0
