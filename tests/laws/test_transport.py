"""Copying, pickling, moving and storing change nothing."""

import copy
import io
import pickle

import pytest
import torch

from sublayer.nn import FeedForward
from sublayer.nn.feedforward import ACTIVATIONS

ARCHITECTURES = ("encoder", "decoder", "encoder-decoder")
architectures = pytest.mark.parametrize("architecture", ARCHITECTURES)


def run(model):
    ids = torch.arange(10).view(2, 5)
    keep = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).bool()
    return model(ids, ids, keep, keep) if hasattr(model, "encode") else model(ids, keep)


@architectures
@pytest.mark.parametrize("kernel", ["fused", "eager"])
def test_deepcopy(architecture, tiny, position, kernel):
    model = tiny(architecture, position=position, kernel=kernel)
    twin = copy.deepcopy(model)
    assert run(twin).equal(run(model))
    mine, others = {id(p) for p in model.parameters()}, {id(p) for p in twin.parameters()}
    assert len(mine) == len(others) and not mine & others


@architectures
def test_pickle(architecture, tiny, position):
    model = tiny(architecture, position=position)
    assert run(pickle.loads(pickle.dumps(model))).equal(run(model))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_survives_pickle_and_deepcopy(activation):
    ffn, x = FeedForward(4, 8, activation=activation).eval(), torch.randn(1, 2, 4)
    assert pickle.loads(pickle.dumps(ffn))(x).equal(ffn(x))
    assert copy.deepcopy(ffn)(x).equal(ffn(x))


@architectures
def test_state_dict_through_a_weights_only_file(architecture, tiny, position):
    model, other = tiny(architecture, position=position), tiny(architecture, position=position)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True), strict=True)
    assert run(other).equal(run(model))


@architectures
def test_there_are_no_buffers_to_go_stale(architecture, tiny, position):
    assert list(tiny(architecture, position=position).buffers()) == []


@architectures
def test_double_and_back(architecture, tiny, position):
    model = tiny(architecture, position=position)
    before = run(model)
    model.double()
    assert all(p.dtype == torch.float64 for p in model.parameters()) and run(model).dtype == torch.float64
    assert run(model.float()).equal(before)


@architectures
def test_meta(architecture, tiny, position):
    model = tiny(architecture, position=position)
    state = copy.deepcopy(model.state_dict())
    before = run(model)
    model.to("meta")
    assert all(p.is_meta for p in model.parameters())
    ids = torch.zeros(2, 5, dtype=torch.long, device="meta")
    output = model(ids, ids) if architecture == "encoder-decoder" else model(ids)
    assert output.is_meta and output.shape == before.shape
    model.to_empty(device="cpu").load_state_dict(state)
    assert run(model).equal(before)
