import torch

from sublayer.nn import LayerNorm, RMSNorm


def test_layer_norm_is_the_formula(perturb):
    norm, x = perturb(LayerNorm(6)), torch.randn(2, 3, 6)
    centred = x - x.mean(-1, keepdim=True)
    expected = centred / (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight + norm.bias
    torch.testing.assert_close(norm(x), expected)


def test_rms_norm_is_the_formula(perturb):
    norm, x = perturb(RMSNorm(6, eps=1e-3)), torch.randn(2, 3, 6)
    expected = x / (x.square().mean(-1, keepdim=True) + 1e-3).sqrt() * norm.weight
    torch.testing.assert_close(norm(x), expected)
