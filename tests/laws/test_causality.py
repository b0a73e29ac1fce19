"""The future changes nothing in the past."""

import pytest
import torch

from sublayer.nn import Eager, EncoderLayer, FeedForward, Fused, Local, Mask, MultiHeadAttention


@pytest.mark.parametrize("kernel", [Eager(), Fused(), Local(5)], ids=["eager", "fused", "local"])
@pytest.mark.parametrize("mask", [Mask(causal=True), Mask(causal=True, window=2)], ids=["causal", "window"])
@pytest.mark.parametrize("train", [True, False])
def test_in_a_layer(kernel, mask, train, perturb):
    attend = MultiHeadAttention(16, 4, dropout=0.0, kernel=kernel)
    layer = perturb(EncoderLayer(16, attend, FeedForward(16, 24, 0.0), 0.0)).train(train)
    x = torch.randn(2, 6, 16)
    other = torch.cat((x[:, :4], 100 * torch.randn(2, 2, 16)), 1)
    torch.testing.assert_close(layer(other, mask)[:, :4], layer(x, mask)[:, :4], atol=1e-6, rtol=0)
    x.requires_grad_()
    layer(x, mask)[:, :4].sum().backward()
    assert x.grad[:, 4:].eq(0).all() and x.grad[:, :4].ne(0).any(-1).all()


@pytest.mark.parametrize("padded", [False, True])
def test_in_an_encoder_decoder(tiny, position, padded, ragged):
    model = tiny(position=position)
    src, trg = torch.randint(13, (2, 5)), torch.randint(11, (2, 6))
    keep = ragged([6, 6]) if padded else None
    changed = trg.clone()
    changed[:, 3:] = (trg[:, 3:] + 1) % 11
    one, other = model(src, trg, None, keep), model(src, changed, None, keep)
    torch.testing.assert_close(other[:, :3], one[:, :3], atol=1e-6, rtol=0)
    assert not other[:, 3:].allclose(one[:, 3:], atol=1e-3)


def test_a_prefix_is_the_whole_cut_off(tiny, position):
    model, ids = tiny("decoder", position=position), torch.randint(11, (2, 7))
    whole = model(ids)
    for length in range(1, 8):
        torch.testing.assert_close(model(ids[:, :length]), whole[:, :length], atol=1e-5, rtol=0)
