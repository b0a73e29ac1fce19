import pytest
import torch
from torch import nn

from sublayer.errors import ConfigError
from sublayer.inspect import input_gradients, jacobian_flow
from sublayer.nn import Mask

IDS = torch.tensor([[4, 5, 6, 7], [5, 5, 8, 4]])


class Mixing(nn.Module):
    """y = A x W, whose Jacobian is known."""

    def __init__(self, mix, weight):
        super().__init__()
        self.embed, self.out = nn.Embedding(9, len(weight)), nn.Linear(*weight.T.shape, bias=False)
        self.mix = mix
        self.out.weight = nn.Parameter(weight.clone())

    def forward(self, ids):
        return self.out(self.mix @ self.embed(ids))


def test_a_linear_map_has_the_jacobian_that_it_is():
    mix, weight = torch.tensor([[1.0, 0, 0], [0.5, -2, 0]]), torch.randn(4, 4)
    flow = jacobian_flow(Mixing(mix, weight), (IDS[:, :3],), at="embed", to="out")
    torch.testing.assert_close(flow, (mix.abs() * weight.norm()).expand(2, 2, 3))


def test_gradients_of_a_linear_score():
    mix, weight = torch.tensor([[1.0, 0, 0], [0.5, -2, 0]]), torch.randn(4, 4)
    model = Mixing(mix, weight)
    found = input_gradients(model, (IDS[:, :3],), lambda y: y[:, 1, 2].sum())
    torch.testing.assert_close(found.gradient, mix[1][None, :, None] * weight[2].expand(2, 1, 4))
    torch.testing.assert_close(found.times_input.sum(1), model(IDS[:, :3])[:, 1, 2])  # all of a linear score
    torch.testing.assert_close(found.norm, (mix[1].abs() * weight[2].norm()).expand(2, 3))


def test_the_past_reaches_the_future_and_nothing_else(tiny):
    model = tiny("decoder")
    flow = jacobian_flow(model, (IDS,), at="embed", to="decoder")
    assert flow.shape == (2, 4, 4) and (flow.triu(1) == 0).all() and (flow.tril() > 0).sum() == 20


def test_padding_reaches_nobody_and_rows_stay_apart(tiny):
    model = tiny("encoder").requires_grad_(False)  # the weights need none
    keep = torch.tensor([[True, True, True, False], [True] * 4])
    with torch.no_grad():
        flow = jacobian_flow(model, (IDS, Mask.padding(keep)), at="embed", to="encoder")
        alone = jacobian_flow(model, (IDS[1:],), at="embed", to="encoder")
    assert (flow[0, :3, 3] == 0).all() and (flow[0, :3, :3] > 0).all()
    torch.testing.assert_close(flow[1:], alone)


def test_the_gradient_is_that_of_small_steps(tiny):
    model = tiny("encoder-decoder").double()
    inputs = (IDS, IDS[:, :3])
    found = input_gradients(model, inputs, lambda logits: logits[0, 2, 3], at="source_embed")
    step, values = 1e-6, []
    for sign in (1, -1):
        moved = found.value.clone()
        moved[0, 1, 5] += sign * step
        memory = model.encoder(moved)
        values.append(model.project(model.decode(inputs[1], memory))[0, 2, 3].item())
    assert found.gradient[0, 1, 5].item() == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-4)
    assert (found.gradient[1] == 0).all()
    with pytest.raises(ConfigError, match="Did you mean"):
        input_gradients(model, inputs, lambda logits: logits.sum(), at="source_embedd")
