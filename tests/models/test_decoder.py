import torch

from sublayer.nn import Mask


def test_it_is_causal_by_itself(tiny, position):
    model, ids = tiny("decoder", position=position), torch.randint(11, (2, 6))
    other = ids.clone()
    other[:, 4:] = (other[:, 4:] + 1) % 11
    torch.testing.assert_close(model(other)[:, :4], model(ids)[:, :4], atol=1e-6, rtol=0)
    assert not model(other)[:, 4:].allclose(model(ids)[:, 4:], atol=1e-3)


def test_packed_texts_are_the_texts_alone(tiny, position):
    model, one, two = tiny("decoder", position=position), torch.randint(11, (1, 3)), torch.randint(11, (1, 4))
    packed = model(torch.cat((one, two), 1), Mask(documents=torch.tensor([[5, 5, 5, 2, 2, 2, 2]])))
    torch.testing.assert_close(packed, torch.cat((model(one), model(two)), 1), atol=1e-5, rtol=0)


def test_a_window_limits_the_past(tiny):
    model, ids = tiny("decoder", decoder_layers=1, position="rotary"), torch.randint(11, (1, 6))
    near = model(ids, Mask(window=2))
    torch.testing.assert_close(near[:, -1], model(ids[:, -3:])[:, -1], atol=1e-5, rtol=0)
    assert not near[:, -1].allclose(model(ids)[:, -1], atol=1e-3)
