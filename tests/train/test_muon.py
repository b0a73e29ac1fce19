"""The optimisers that do not step number by number."""

import pytest
import torch
from tests.train.together import Pairs, model

from sublayer.tasks.teaching import translation_loss
from sublayer.train.muon import Muon
from sublayer.train.optim import optimizer
from sublayer.train.state import Position, restore, save


def stepped(made, steps, times=2):
    for group in steps.param_groups:
        group["lr"] = 0.01
    for number in range(times):
        translation_loss(made, Pairs().make(number)).mean.backward()
        steps.step()
        steps.zero_grad()
    return made


def test_matrices_inside_the_layers_go_by_muon_and_all_else_by_adamw():
    made = model()
    steps = optimizer(made, "muon", weight_decay=0.1)
    orthogonal, adamw = steps.parts
    names = {id(p): name for name, p in made.named_parameters()}
    by_muon = {names[id(p)] for group in orthogonal.param_groups for p in group["params"]}
    assert by_muon == {n for n, p in made.named_parameters() if ".layers." in n and p.dim() == 2}
    by_adamw = [names[id(p)] for group in adamw.param_groups for p in group["params"]]
    assert sorted([*by_muon, *by_adamw]) == sorted(names.values())
    assert [group["weight_decay"] for group in steps.param_groups] == [0.1, 0.1, 0.0]


def test_a_step_is_torchs_own_with_the_size_of_adamws():
    made = model()
    name, matrix = next((n, p) for n, p in made.named_parameters() if ".layers." in n and p.dim() == 2)
    alone = torch.nn.Parameter(matrix.detach().clone())
    theirs = torch.optim.Muon([alone], lr=0.01, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    steps = optimizer(made, "muon")
    for group in steps.param_groups:
        group["lr"] = 0.01
    translation_loss(made, Pairs().make(6)).mean.backward()
    alone.grad = matrix.grad.clone()
    before = alone.detach().clone()
    steps.step(), theirs.step()
    assert torch.equal(made.get_parameter(name), alone)
    size = (alone - before).square().mean().sqrt().item() / 0.01
    assert 0.05 < size < 0.3  # 0.2 where the gradient has full rank: Liu et al. 2025, equation 4


@pytest.mark.parametrize("kind", ["muon", "adafactor"])
def test_it_learns_and_goes_on_to_the_bit(tmp_path, kind):
    made = model()
    steps = optimizer(made, kind, weight_decay=0.1)
    before = translation_loss(made, Pairs().make(1)).mean.item()
    stepped(made, steps, times=4)
    assert translation_loss(made, Pairs().make(1)).mean.item() < before
    folder = save(tmp_path, made, steps, Position(step=4))
    other = model()
    others = optimizer(other, kind, weight_decay=0.1)
    restore(folder, other, others)
    stepped(made, steps), stepped(other, others)
    assert all(torch.equal(a, b) for a, b in zip(made.parameters(), other.parameters(), strict=True))


def test_adafactor_holds_a_row_and_a_column_of_a_matrix():
    made = model()
    steps = optimizer(made, "adafactor")
    stepped(made, steps, times=1)
    held = steps.state[made.project.weight]
    rows, columns = made.project.weight.shape
    assert held["row_var"].numel() == rows and held["col_var"].numel() == columns


def test_a_model_without_layers_goes_by_adamw_alone():
    assert [type(part) for part in optimizer(torch.nn.Linear(2, 2), "muon").parts] == [torch.optim.AdamW]


def test_zero_grad_reaches_both():
    made = model()
    steps = optimizer(made, "muon")
    assert isinstance(steps, Muon)
    translation_loss(made, Pairs().make(1)).mean.backward()
    steps.zero_grad()
    assert all(p.grad is None for p in made.parameters())
