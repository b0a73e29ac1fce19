import pytest
import torch
from torch import nn

from sublayer.errors import ConfigError
from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.models.store import merged, weights
from sublayer.nn import LowRank, adapt, merge

IDS = torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1]])


@pytest.fixture
def model(perturb):
    config = ModelConfig(architecture="encoder", source_vocab=9, d_model=16, num_heads=2, encoder_layers=2, d_ff=24)
    return perturb(build(config)).double().eval()


def test_the_formula():
    part = LowRank(nn.Linear(3, 2), rank=2, alpha=6.0)
    nn.init.normal_(part.up.weight)
    x = torch.randn(5, 3)
    by_hand = part.base(x) + 3 * x @ part.down.weight.T @ part.up.weight.T
    torch.testing.assert_close(part(x), by_hand)
    torch.testing.assert_close(part.merged()(x), by_hand)


def test_it_starts_as_the_base_and_merges_into_the_same_model(model, perturb):
    before, names = model(IDS), list(weights(model))
    chosen = adapt(model, 4, 8.0, ["*.q_proj", "*.up"])
    assert len(chosen) == 4 and isinstance(model.encoder.layers[0].self_attn.q_proj, LowRank)
    assert model(IDS).equal(before)
    perturb(model, seed=1)
    learned = model(IDS)
    assert not torch.allclose(learned, before, atol=1e-2)
    kept = merged(model, weights(model))
    merge(model)
    torch.testing.assert_close(model(IDS), learned, rtol=1e-6, atol=1e-6)
    assert sorted(kept) == sorted(names) == sorted(weights(model))
    assert all(kept[name].equal(tensor) for name, tensor in weights(model).items())


def test_only_adapters_learn(model):
    model.requires_grad_(False)
    adapt(model, 2, 2.0, ["*.v_proj"])
    learns = {name for name, p in model.named_parameters() if p.requires_grad}
    assert learns == {f"encoder.layers.{i}.self_attn.v_proj.{p}.weight" for i in (0, 1) for p in ("down", "up")}
    model(IDS).sum().backward()
    assert model.encoder.layers[0].self_attn.v_proj.base.weight.grad is None


def test_a_name_that_there_is_not(model):
    with pytest.raises(ConfigError, match=r"No linear map is named '\*.query'. Names end in down, k_proj, .*: write"):
        adapt(model, 2, 2.0, ["*.q_proj", "*.query"])
