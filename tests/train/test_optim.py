import pytest
import torch
from torch import nn

from sublayer.train.optim import OPTIMIZERS, clip, optimizer, scale_gradients


def test_matrices_decay_and_vectors_do_not():
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))
    matrices, vectors = optimizer(model, "adamw", weight_decay=0.1).param_groups
    assert [p.shape for p in matrices["params"]] == [(4, 3)] and matrices["weight_decay"] == 0.1
    assert len(vectors["params"]) == 3 and vectors["weight_decay"] == 0.0


def test_frozen_parameters_and_empty_groups_are_left_out():
    model = nn.Linear(3, 4, bias=False)
    assert len(optimizer(model, "adam").param_groups) == 1
    with_bias = nn.Linear(3, 4)
    with_bias.weight.requires_grad_(False)
    (group,) = optimizer(with_bias, "adam").param_groups
    assert group["params"][0] is with_bias.bias


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_it_is_torchs_own_step(kind):
    ours, theirs = nn.Linear(5, 2), nn.Linear(5, 2)
    theirs.load_state_dict(ours.state_dict())
    steps = (
        optimizer(ours, kind, betas=(0.9, 0.98), eps=1e-9),
        OPTIMIZERS[kind](theirs.parameters(), betas=(0.9, 0.98), eps=1e-9, weight_decay=0.0, foreach=False),
    )
    x = torch.randn(3, 5)
    for model, step in zip((ours, theirs), steps, strict=True):
        for _ in range(3):
            step.zero_grad()
            model(x).square().sum().backward()
            step.param_groups[0]["lr"] = 0.01
            step.param_groups[-1]["lr"] = 0.01
            step.step()
    torch.testing.assert_close(ours.weight, theirs.weight)


def test_gradients_are_scaled_in_place_and_missing_ones_passed_over():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[0](torch.ones(1, 2)).sum().backward()
    before = model[0].weight.grad.clone()
    scale_gradients(model.parameters(), 0.25)
    torch.testing.assert_close(model[0].weight.grad, before / 4)
    assert model[1].weight.grad is None
    scale_gradients([], 0.25)


@pytest.mark.parametrize(("most", "left"), [(1.0, 1.0), (10.0, 5.0), (0.0, 5.0)])
def test_the_joint_norm_is_cut_to_the_most(most, left):
    a, b = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
    a.grad, b.grad = torch.tensor([3.0]), torch.tensor([4.0])
    assert clip([a, b], most) == pytest.approx(5.0)
    assert torch.cat([a.grad, b.grad]).norm().item() == pytest.approx(left, rel=1e-5)
    torch.testing.assert_close(a.grad / b.grad, torch.tensor([0.75]))
