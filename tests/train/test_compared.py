"""Right values written out by hand, from the papers' formulas."""

import copy
import math

import pytest
import torch
from torch import nn

from sublayer.train.compared import Distilled, Twice
from sublayer.train.loss import cross_entropy

X, RIGHT = torch.eye(2), torch.tensor([0, 2])


class Table(nn.Module):
    """Says these logits, one row an input; a dropped input says nothing."""

    def __init__(self, *rows, dropout=0.0):
        super().__init__()
        self.rows, self.dropout = nn.Parameter(torch.tensor(rows)), nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(x) @ self.rows


def scores(model, batch):
    x, right = batch
    return model(x), right


def softmax(row):
    total = sum(map(math.exp, row))
    return [math.exp(each) / total for each in row]


def kl(p, q):
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


SAID, TAUGHT = ([1.0, 0.0, -1.0], [0.5, 2.0, 0.0]), ([2.0, 1.0, -3.0], [0.0, 0.0, 1.0])


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_a_taught_loss_is_the_mean_of_both_by_their_weight(temperature):
    found = Distilled(scores, Table(*TAUGHT), 0.3, temperature)(Table(*SAID), (X, RIGHT))
    nll = -math.log(softmax(SAID[0])[0]) - math.log(softmax(SAID[1])[2])
    soft = sum(
        kl(softmax([s / temperature for s in theirs]), softmax([s / temperature for s in ours]))
        for theirs, ours in zip(TAUGHT, SAID, strict=True)
    )
    assert found.total.item() == pytest.approx(0.7 * nll + 0.3 * temperature**2 * soft, rel=1e-5)
    assert float(found.nll) == pytest.approx(nll, rel=1e-5)
    assert found.count == 2


def test_its_gradient_draws_the_model_to_the_teacher():
    model = Table(*SAID)
    Distilled(scores, Table(*TAUGHT), 1.0, 2.0)(model, (X, RIGHT)).total.backward()
    # Hinton et al. 2015, equation 2: 1/T · (q - p) for one example, times T²
    for row, ours, theirs in zip(model.rows.grad, SAID, TAUGHT, strict=True):
        q, p = softmax([s / 2 for s in ours]), softmax([s / 2 for s in theirs])
        assert row.tolist() == pytest.approx([2 * (a - b) for a, b in zip(q, p, strict=True)], abs=1e-5)


def test_the_teacher_learns_nothing():
    teacher, model = Table(*TAUGHT), Table(*SAID)
    Distilled(scores, teacher, 0.5, 1.0)(model, (X, RIGHT)).total.backward()
    assert teacher.rows.grad is None and model.rows.grad is not None


def test_smoothing_is_of_the_usual_part():
    found = Distilled(scores, Table(*SAID), 0.25, 1.0, smoothing=0.1)(Table(*SAID), (X, RIGHT))
    usual = cross_entropy(torch.tensor(SAID), RIGHT, 0.1)
    assert found.total.item() == pytest.approx(0.75 * usual.total.item(), rel=1e-5)


def test_two_passes_cost_half_of_both_and_their_distance():
    torch.manual_seed(0)
    model = Table(*SAID, dropout=0.5)
    loss, state = Twice(scores, 5.0, smoothing=0.1), torch.get_rng_state()
    found = loss(model, (X, RIGHT))
    torch.set_rng_state(state)
    one, other = model(X), model(X)
    assert not torch.equal(one, other)
    distance = sum(
        kl(softmax(a), softmax(b)) + kl(softmax(b), softmax(a))
        for a, b in zip(one.tolist(), other.tolist(), strict=True)
    )
    each = [cross_entropy(logits, RIGHT, 0.1) for logits in (one, other)]
    paper = (each[0].total + each[1].total).item() + 5.0 / 2 * distance
    assert found.total.item() == pytest.approx(paper / 2, rel=1e-5)
    assert float(found.nll) == pytest.approx(float(each[0].nll + each[1].nll) / 2, rel=1e-5)
    assert found.count == 2


def test_without_dropout_two_passes_are_one():
    ours, plain = Table(*SAID), Table(*SAID)
    twice = Twice(scores, 5.0)(ours, (X, RIGHT))
    once = cross_entropy(plain(X), RIGHT)
    twice.total.backward(), once.total.backward()
    assert twice.total.item() == pytest.approx(once.total.item(), rel=1e-6)
    torch.testing.assert_close(ours.rows.grad, plain.rows.grad)


@pytest.mark.parametrize("made", [lambda: Distilled(scores, Table(*TAUGHT), 0.5, 2.0), lambda: Twice(scores, 1.0)])
def test_over_no_rows_the_loss_is_nothing_and_so_are_its_gradients(made):
    model = Table(*SAID)
    found = made()(model, (X[:0], RIGHT[:0]))
    found.total.backward()
    assert (found.total.item(), float(found.nll), found.count) == (0.0, 0.0, 0)
    assert not model.rows.grad.any()


def test_in_bfloat16_distances_are_taken_in_fp32():
    model, batch = Table(*SAID), (X, RIGHT)
    exact = Distilled(scores, Table(*TAUGHT), 0.5, 2.0)(copy.deepcopy(model), batch)
    with torch.autocast("cpu", torch.bfloat16):
        found = Distilled(scores, Table(*TAUGHT), 0.5, 2.0)(model, batch)
    assert found.total.dtype == torch.float32
    assert found.total.item() == pytest.approx(exact.total.item(), rel=0.02)
