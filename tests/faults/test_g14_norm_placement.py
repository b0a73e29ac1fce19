"""The final norm is missing, or deep stacks diverge."""

import pytest
import torch
import torch.nn.functional as F

from sublayer.models import ModelConfig
from sublayer.models.build import build


@pytest.mark.parametrize("norm_first", [True, False])
def test_vectors_leave_a_stack_normed(norm_first):
    config = ModelConfig(source_vocab=20, target_vocab=20, d_model=64, encoder_layers=2, norm_first=norm_first)
    model = build(config).eval()
    output = model.encode(torch.randint(20, (2, 9)))
    torch.testing.assert_close(output.mean(-1), torch.zeros(2, 9), atol=1e-5, rtol=0)
    torch.testing.assert_close(output.var(-1, unbiased=False), torch.ones(2, 9), atol=1e-2, rtol=0)


def deep(**settings):
    sizes = dict(d_model=32, num_heads=4, encoder_layers=12, decoder_layers=12)
    return build(ModelConfig(source_vocab=20, target_vocab=20, **sizes, **settings))


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_first_gradient_of_twelve_layers(norm_first):
    model, ids = deep(norm_first=norm_first), torch.randint(20, (4, 8))
    F.cross_entropy(model(ids, ids).flatten(0, 1), ids.flatten()).backward()
    for stack in (model.encoder, model.decoder):
        norms = torch.stack([p.grad.norm() for p in stack.layers[0].parameters()])
        assert norms.isfinite().all() and norms.sum() > 1e-3


def copying(model, rows):
    """The loss on random texts of six symbols, to be written again."""
    src = torch.randint(1, 20, (rows, 6))
    trg = F.pad(src, (1, 0))[:, :-1]
    return F.cross_entropy(model(src, trg).flatten(0, 1), src.flatten())


@pytest.mark.slow
def test_twelve_layers_learn_to_copy():
    model = deep()
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimiser, 0.02, total_iters=50)
    losses = []
    for _ in range(800):
        loss = copying(model, 16)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        warm_up.step()
        losses.append(loss.item())
    assert torch.tensor(losses).isfinite().all()
    with torch.no_grad():
        assert copying(model.eval(), 128).item() < 0.1 * losses[0]
