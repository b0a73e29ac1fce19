import math

import pytest
from torch import nn

from sublayer.nn import init


@pytest.fixture
def module():
    return nn.ModuleDict({"map": nn.Linear(60, 40), "embed": nn.Embedding(500, 64), "norm": nn.LayerNorm(4)})


@pytest.mark.parametrize("start", [init.xavier, init.scaled, init.normal])
def test_biases_are_zero_and_norms_untouched(module, start):
    module["norm"].weight.data.fill_(3.0)
    start(module)
    assert module["map"].bias.eq(0).all()
    assert module["norm"].weight.eq(3.0).all()


def test_xavier_bounds(module):
    init.xavier(module)
    for weight, fan_in, fan_out in ((module["map"].weight, 60, 40), (module["embed"].weight, 64, 500)):
        bound = math.sqrt(6 / (fan_in + fan_out))
        assert 0.9 * bound < weight.abs().max() <= bound


def test_scaled_embeddings_have_unit_variance_after_scaling(module):
    init.scaled(module)
    vectors = module["embed"].weight * math.sqrt(64)
    assert vectors.var().item() == pytest.approx(1.0, abs=0.03)
    assert module["map"].weight.abs().max() <= math.sqrt(6 / 100)


def test_normal_has_its_deviation(module):
    init.normal(module, std=0.05)
    for weight in (module["map"].weight, module["embed"].weight):
        assert weight.std().item() == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize("start", [init.xavier, init.scaled, init.normal])
def test_a_map_without_bias_starts_too(start):
    module = nn.Linear(3, 3, bias=False)
    before = module.weight.clone()
    start(module)
    assert not module.weight.equal(before)
