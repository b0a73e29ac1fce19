import math

import pytest
import torch
from torch.nn.functional import cross_entropy as torch_cross_entropy

from sublayer.train.loss import Loss, cross_entropy, no_loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_it_is_torchs_sum(smoothing):
    logits, targets = torch.randn(7, 5), torch.randint(5, (7,))
    loss = cross_entropy(logits, targets, smoothing)
    expected = torch_cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(loss.total, expected)
    torch.testing.assert_close(loss.nll, torch_cross_entropy(logits, targets, reduction="sum"))
    assert loss.count == 7


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("factor", [1.0, -2.5])
def test_its_gradient_is_torchs(smoothing, factor):
    logits, targets = torch.randn(7, 5, requires_grad=True), torch.randint(5, (7,))
    (ours,) = torch.autograd.grad(factor * cross_entropy(logits, targets, smoothing).total, logits)
    loss = torch_cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(ours, torch.autograd.grad(factor * loss, logits)[0])


def test_a_second_pass_through_the_same_graph_is_refused():
    logits = torch.randn(3, 4, requires_grad=True)
    total = cross_entropy(logits, torch.tensor([0, 1, 2])).total
    total.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


def test_what_is_reported_has_no_graph():
    loss = cross_entropy(torch.randn(3, 4, requires_grad=True), torch.tensor([0, 1, 2]), 0.1)
    assert loss.total.requires_grad and not loss.nll.requires_grad


def test_logits_in_half_precision_are_summed_in_full():
    logits, targets = torch.randn(1000, 8).bfloat16(), torch.randint(8, (1000,))
    loss = cross_entropy(logits, targets, 0.1)
    assert loss.total.dtype == torch.float32
    torch.testing.assert_close(loss.total, cross_entropy(logits.float(), targets, 0.1).total)


def test_losses_add_as_sums_and_divide_once():
    one = Loss(torch.tensor(4.0), torch.tensor(3.0), 1)
    three = Loss(torch.tensor(3.0), torch.tensor(2.0), 3)
    both = no_loss() + one + three
    assert (both.total.item(), both.nll.item(), both.count) == (7.0, 5.0, 4)
    assert both.mean.item() == 1.75


def test_no_loss_at_all_has_a_mean_of_zero():
    assert no_loss().mean.item() == 0.0


def test_a_sure_and_right_model_costs_nothing_without_smoothing():
    logits = torch.full((2, 3), -50.0).scatter_(1, torch.tensor([[0], [2]]), 50.0)
    assert cross_entropy(logits, torch.tensor([0, 2])).total.item() == 0.0
    smoothed = cross_entropy(logits, torch.tensor([0, 2]), 0.3).total.item()
    assert math.isclose(smoothed, 2 * 0.3 * 2 / 3 * 100, rel_tol=1e-6)  # two wrong classes, 100 nats each, ε / 3
