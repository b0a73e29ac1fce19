import torch

from sublayer.nn import ScaledLinear


def test_the_state_is_scaled_and_the_bias_is_not():
    map = ScaledLinear(2, 1, scale=0.5)
    with torch.no_grad():
        map.weight.copy_(torch.tensor([[3.0, -1.0]]))
        map.bias.fill_(7.0)
    assert map(torch.tensor([[4.0, 2.0]])).tolist() == [[0.5 * (12 - 2) + 7]]
    assert ScaledLinear(2, 1, scale=0.5, bias=False).bias is None
