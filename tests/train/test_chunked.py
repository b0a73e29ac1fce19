"""A chunked loss is the plain one."""

import pytest
import torch
from torch import nn

from sublayer.nn import ScaledLinear
from sublayer.train.loss import chunked_cross_entropy, cross_entropy

PROJECTS = {
    "with a bias": lambda: nn.Linear(6, 50),
    "without": lambda: nn.Linear(6, 50, bias=False),
    "scaled": lambda: ScaledLinear(6, 50, scale=0.3),
}


def gradients(project, loss):
    """What the loss of eleven states is, and three times its gradients."""
    torch.manual_seed(1)
    made, x, y = PROJECTS[project](), torch.randn(11, 6).requires_grad_(), torch.randint(50, (11,))
    found = loss(made, x, y)
    (3 * found.total).backward()
    return found, x.grad, [p.grad for p in made.parameters()]


@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [1, 4, 11, 100])
def test_in_value_and_in_gradients(project, smoothing, chunk):
    plain, *theirs = gradients(project, lambda made, x, y: cross_entropy(made(x), y, smoothing))
    found, *ours = gradients(project, lambda *given: chunked_cross_entropy(*given, smoothing, chunk=chunk))
    torch.testing.assert_close((found.total, found.nll), (plain.total, plain.nll))
    assert found.count == plain.count == 11
    torch.testing.assert_close(ours, theirs)


def test_over_no_tokens_it_is_zero_with_zero_gradients():
    project, x = nn.Linear(6, 50), torch.zeros(0, 6, requires_grad=True)
    loss = chunked_cross_entropy(project, x, torch.zeros(0, dtype=torch.long), chunk=4)
    loss.total.backward()
    assert loss.total.item() == 0 and loss.count == 0 and x.grad.shape == (0, 6)
    assert not project.weight.grad.any()


def test_no_more_than_a_chunk_of_logits_is_ever_there():
    rows = []
    project = nn.Linear(6, 50)
    project.register_forward_hook(lambda module, given, out: rows.append(len(out)))
    chunked_cross_entropy(project, torch.randn(10, 6), torch.randint(50, (10,)), 0.1, chunk=4).total.backward()
    assert rows == [4, 4, 2]


def test_a_frozen_output_map_has_no_gradients():
    project, x = nn.Linear(6, 50).requires_grad_(False), torch.randn(5, 6, requires_grad=True)
    chunked_cross_entropy(project, x, torch.arange(5), 0.1, chunk=2).total.backward()
    assert x.grad.any() and project.weight.grad is None


def test_in_bfloat16():
    torch.manual_seed(0)
    project, x, y = nn.Linear(6, 50), torch.randn(9, 6, requires_grad=True), torch.arange(9)
    with torch.autocast("cpu", torch.bfloat16):
        ours, plain = chunked_cross_entropy(project, x, y, 0.1, chunk=4), cross_entropy(project(x), y, 0.1)
    assert ours.total.dtype == torch.float32
    torch.testing.assert_close(ours.total, plain.total, rtol=1e-5, atol=1e-4)
