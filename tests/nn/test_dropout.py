import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.nn import Dropout


@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 3, 7), (0, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_number_is_dropped_or_divided_by_what_is_kept(shape, dtype):
    x = torch.ones(shape, dtype=dtype)
    output = Dropout(0.5)(x)
    assert output.shape == x.shape and output.dtype == dtype
    assert set(output.unique().tolist()) <= {0.0, 2.0}


@pytest.mark.parametrize("p", [0.1, 0.3, 0.9])
def test_the_share_and_the_mean(p):
    output = Dropout(p)(torch.ones(200, 500))
    assert output.eq(0).float().mean().item() == pytest.approx(p, abs=0.006)
    assert output.mean().item() == pytest.approx(1.0, abs=0.03)


def test_neighbours_are_dropped_independently():
    dropped = Dropout(0.5)(torch.ones(400_000)).eq(0)
    for step in (1, 2, 3, 4, 5):
        assert (dropped[step:] & dropped[:-step]).float().mean().item() == pytest.approx(0.25, abs=0.005)


def test_the_gradient_goes_where_the_numbers_went():
    x = torch.ones(50, requires_grad=True)
    output = Dropout(0.4)(x)
    output.sum().backward()
    torch.testing.assert_close(x.grad, output.detach())


def test_the_generator_decides():
    x = torch.ones(100)
    torch.manual_seed(1)
    one = Dropout(0.5)(x)
    torch.manual_seed(1)
    assert Dropout(0.5)(x).equal(one)
    assert not Dropout(0.5)(x).equal(one)


@pytest.mark.parametrize("dropout", [Dropout(0.0), Dropout(0.5).eval()])
def test_off_is_the_same_tensor_and_draws_nothing(dropout):
    before, x = torch.get_rng_state(), torch.ones(9)
    assert dropout(x) is x
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5])
def test_an_impossible_share_is_refused(p):
    with pytest.raises(ConfigError, match=rf"dropout is {p}: choose a number from 0 \(off\) to below 1"):
        Dropout(p)
