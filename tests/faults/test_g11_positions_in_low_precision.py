"""Positions are counted, or angles computed, in bf16: neighbours coincide."""

import pytest
import torch

from sublayer.nn import Embeddings, Rotary, Sinusoidal

LOW = [torch.bfloat16, torch.float16]


def exact(places, width):
    frequencies = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.arange(places, dtype=torch.float64)[:, None] * frequencies


@pytest.mark.parametrize("dtype", LOW)
def test_sinusoids_of_a_cast_model(dtype):
    embed = Embeddings(3, 16, positions=Sinusoidal(16), dropout=0.0).to(dtype)
    embed.tokens.weight.data.zero_()
    table = embed(torch.zeros(1, 600, dtype=torch.long))[0]
    assert table.dtype == dtype
    angles = exact(600, 16)
    right = torch.stack((angles.sin(), angles.cos()), -1).flatten(1)
    assert (table.double() - right).abs().max() <= 0.002
    assert len(table.unique(dim=0)) == 600 and not table[256].equal(table[257])


@pytest.mark.parametrize("dtype", LOW)
def test_rotary_of_a_cast_model(dtype):
    turned = Rotary(16).to(dtype)(torch.cat((torch.ones(8), torch.zeros(8))).to(dtype).expand(1, 1, 600, 16))
    assert turned.dtype == dtype
    angles = exact(600, 16)
    assert (turned[0, 0].double() - torch.cat((angles.cos(), angles.sin()), 1)).abs().max() <= 0.002


def test_a_model_of_two_types_keeps_the_type_of_its_tokens(tiny, position):
    model = tiny("encoder", position=position).bfloat16()
    assert model.embed(torch.zeros(1, 600 if position != "learned" else 32, dtype=torch.long)).dtype == torch.bfloat16
