import pytest
import torch
import torch.nn.functional as F

from sublayer.errors import ShapeError
from sublayer.inspect import Labelled, Probe, control_labels, probe

LABELS = [0, 1, 2] * 40


def test_the_solution_is_where_the_gradient_ends():
    x = torch.randn(120, 5)
    found = Probe.fit(x, LABELS, penalty=0.01)
    off = F.linear(x.double(), found.weight, found.bias).softmax(-1) - F.one_hot(torch.tensor(LABELS))
    torch.testing.assert_close(
        off.T @ x.double() / 120 + 0.01 * found.weight, torch.zeros(3, 5).double(), atol=1e-6, rtol=0
    )
    torch.testing.assert_close(off.mean(0), torch.zeros(3).double(), atol=1e-6, rtol=0)


def test_one_number_and_two_classes_by_hand():
    """At ±1, half of each: the bias is 0, and 2 w solves  σ(-2w) = λ w  where w is the weight of the second class."""
    found = Probe.fit(torch.tensor([[1.0], [-1.0]]), [1, 0], penalty=0.1)
    w = float(found.weight[1])
    assert found.weight[0].item() == pytest.approx(-w) and found.bias.tolist() == pytest.approx([0, 0], abs=1e-7)
    assert torch.sigmoid(torch.tensor(-2 * w)).item() == pytest.approx(0.1 * w, abs=1e-6)


def test_what_is_linear_is_read_and_what_is_not_is_not():
    corner = torch.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    either, both_or_none = [0, 1, 1, 1], [0, 1, 1, 0]
    assert Probe.fit(corner, either).accuracy(corner, either) == 1
    assert Probe.fit(corner, both_or_none).accuracy(corner, both_or_none) < 1
    with pytest.raises(ShapeError, match="4 states and 3 labels"):
        Probe.fit(corner, [0, 1, 1])


def test_a_label_of_chance_belongs_to_the_type():
    types = ["the", "cat", "the", "dog"] * 30
    given = control_labels(types, [0] * 9 + [1], seed=1)
    assert all(len({label for t, label in zip(types, given, strict=True) if t == kind}) == 1 for kind in set(types))
    many = control_labels(range(2000), [0] * 9 + [1])
    assert 0.87 < many.count(0) / 2000 < 0.93 and many == control_labels(range(2000), [0] * 9 + [1])


def test_states_that_name_the_word_are_not_selective_and_states_that_hold_the_label_are():
    types = [i % 30 for i in range(300)]
    labels = [kind % 3 for kind in types]
    named = torch.eye(30)[types]
    found = probe(Labelled(named, types, labels), Labelled(named, types, labels), penalty=1e-4)
    assert found == (1, 1) and found.selectivity == 0
    held = torch.eye(3)[labels] + 0.01 * torch.randn(300, 3)
    found = probe(Labelled(held, types, labels), Labelled(held, types, labels))
    assert found.accuracy == 1 and found.control < 0.8 and found.selectivity == 1 - found.control
