import pytest
import torch
from torch import nn

from sublayer.errors import ConfigError
from sublayer.nn import Int8Linear


def linear(outputs, inputs, bias=True, seed=0):
    torch.manual_seed(seed)
    made = nn.Linear(inputs, outputs, bias=bias)
    with torch.no_grad():
        made.weight.mul_(torch.rand(outputs, 1) * 3)  # outputs differ in size
    return made


def reference(made, x):
    """The formula of the class in float64, each step spelled out."""
    weight, x = made.weight.detach().double(), x.double()
    s = weight.abs().amax(1, keepdim=True) / 127
    weight = torch.round(weight / s) * s
    r = (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True)) / 127
    x = x.amin(-1, keepdim=True) + torch.round((x - x.amin(-1, keepdim=True)) / r) * r
    return x @ weight.T + (0 if made.bias is None else made.bias.detach().double())


def test_worked_numbers():
    made = nn.Linear(2, 2)
    with torch.no_grad():
        made.weight.copy_(torch.tensor([[1.27, 0.014], [-0.3, 2.54]]))
        made.bias.copy_(torch.tensor([10.0, 20.0]))
    # W: steps 0.01 and 0.02, numbers [127, 1] and [-15, 127]; x: from -1 in steps of 0.02, 1.54 = -1 + 127 steps
    # 10 + 1.27 * -1 + 0.01 * 1.54 = 8.7454; 20 + -0.3 * -1 + 2.54 * 1.54 = 24.2116
    torch.testing.assert_close(Int8Linear(made)(torch.tensor([[-1.0, 1.54]])), torch.tensor([[8.7454, 24.2116]]))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(256,), (1, 256), (3, 5, 256)], ids=str)
def test_it_is_the_formula(shape, bias):
    made, x = linear(48, 256, bias), torch.randn(shape) * 3 + 1
    torch.testing.assert_close(Int8Linear(made)(x).double(), reference(made, x), rtol=0, atol=2e-5)


def test_sums_stay_whole_where_16_bits_would_overflow():
    # All products have their largest size and one sign. 256 · 127 · 127 is far beyond 16 bits.
    made = nn.Linear(256, 16, bias=False)
    with torch.no_grad():
        made.weight.fill_(1.0)
    x = torch.ones(4, 256)
    x[:, 0] = 0.0
    torch.testing.assert_close(Int8Linear(made)(x), torch.full((4, 16), 255.0))


@pytest.mark.parametrize("activate", [torch.nn.functional.relu, lambda x: x], ids=["relu", "plain"])
def test_it_is_close_to_the_map_it_comes_from(activate):
    made, x = linear(512, 256), activate(torch.randn(64, 256))
    exact = made(x)
    assert (Int8Linear(made)(x) - exact).norm() / exact.norm() < 0.015


def test_a_row_does_not_depend_on_its_neighbours():
    made, x = Int8Linear(linear(40, 64)), torch.randn(9, 64)
    x[3] *= 1e4
    x[5] = torch.nan
    together = made(x)
    for i in (0, 3, 8):
        assert torch.equal(made(x[i : i + 1])[0], together[i])
        assert torch.equal(made(x.flip(0))[8 - i], together[i])
    assert together[5].isnan().all()


def test_rows_of_equal_numbers_and_outputs_without_weights():
    made = linear(8, 64)
    with torch.no_grad():
        made.weight[2] = 0
    x = torch.stack([torch.zeros(64), torch.full((64,), -2.5), torch.full((64,), 3e4)])
    found = Int8Linear(made)(x)
    steps = made.weight.abs().amax(1, keepdim=True).clamp(min=1e-30) / 127
    sums = (torch.round(made.weight / steps) * steps).sum(1)
    assert torch.equal(found[0], made.bias)
    torch.testing.assert_close(found, made.bias + x[:, :1] * sums, rtol=1e-5, atol=1e-5)
    assert torch.equal(found[:, 2], made.bias[2].expand(3))


def test_the_type_of_the_input_comes_back():
    made, x = linear(8, 64), torch.randn(3, 64)
    half = Int8Linear(made.bfloat16())(x.bfloat16())
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half, made(x.bfloat16()), rtol=0.05, atol=0.1)


def test_it_is_for_a_cpu():
    with pytest.raises(
        ConfigError, match=r"weights are on meta. Move the model with .cpu\(\) first, or leave quantize"
    ):
        Int8Linear(nn.Linear(4, 4, device="meta"))
