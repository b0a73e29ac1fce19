import math

import pytest
import torch

from sublayer.nn import Eager, Fused, Mask, attention, masked_softmax


def test_attention_is_the_formula():
    q, k, v = torch.randn(2, 3, 4, 8), torch.randn(2, 3, 5, 8), torch.randn(2, 3, 5, 6)
    output, weights = attention(q, k, v)
    for b, h, t in [(0, 0, 0), (1, 2, 3), (0, 1, 2)]:
        scores = [float(q[b, h, t] @ k[b, h, s]) / math.sqrt(8) for s in range(5)]
        exps = [math.exp(s) for s in scores]
        row = torch.tensor([e / sum(exps) for e in exps])
        torch.testing.assert_close(weights[b, h, t], row)
        torch.testing.assert_close(output[b, h, t], row @ v[b, h])


def test_three_dimensions_are_one_head():
    q, k, v = torch.randn(2, 4, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    mask = torch.rand(2, 4, 5) < 0.7
    output, weights = attention(q, k, v, mask)
    heads = attention(q[:, None], k[:, None], v[:, None], mask)
    assert output.equal(heads[0][:, 0]) and weights.equal(heads[1][:, 0])
    assert weights.shape == (2, 4, 5)


def test_weights_are_taken_before_dropout():
    x = torch.randn(1, 1, 6, 4)
    output, weights = attention(x, x, x, None, torch.nn.Dropout(0.5))
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 1, 6))
    assert not torch.allclose(output, weights @ x)


def test_scale_and_score_mod():
    q, k, v = torch.randn(3, 1, 2, 4, 8).unbind(0)
    torch.testing.assert_close(attention(q, k, v, scale=1.0)[0], attention(q * math.sqrt(8), k, v)[0])
    for kernel in (Eager(), Fused()):
        torch.testing.assert_close(kernel(q, k, v, None, scale=0.3), attention(q, k, v, scale=0.3)[0])

    def cap(scores):
        return 2 * torch.tanh(scores / 2)

    capped = cap(q @ k.mT / math.sqrt(8)).softmax(-1) @ v
    torch.testing.assert_close(Eager(score_mod=cap)(q, k, v, None), capped)
    mask = Mask(causal=True)
    torch.testing.assert_close(Eager(score_mod=cap)(q, k, v, mask)[:, :, 0], v[:, :, 0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_hidden_keys_weigh_exactly_nothing(dtype):
    scores = torch.randn(2, 3, 4, 5, dtype=dtype)
    keep = torch.tensor([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0]]).bool()
    weights = masked_softmax(scores, Mask.padding(keep))
    assert weights[0][..., ~keep[0]].eq(0).all() and weights[1].eq(0).all()
    torch.testing.assert_close(weights[0].sum(-1).float(), torch.ones(3, 4), atol=1e-2, rtol=0)


@pytest.mark.parametrize("kernel", [Eager(), Fused()])
def test_a_bias_of_minus_infinity_hides_too(kernel):
    q, k, v = torch.randn(3, 1, 1, 3, 4).unbind(0)
    bias = torch.randn(1, 1, 3, 3)
    hidden = torch.tensor([[0, 0, 1], [1, 1, 1], [0, 1, 0]]).bool()
    output = kernel(q, k, v, Mask(bias=bias.masked_fill(hidden, -torch.inf)))
    torch.testing.assert_close(output, kernel(q, k, v, Mask(keep=~hidden[None, None], bias=bias)))
    assert output[0, 0, 1].eq(0).all()


@pytest.mark.parametrize("kernel", [Eager(), Fused()])
def test_dropout_drops_weights_and_keeps_their_mean(kernel):
    q, k = torch.zeros(2, 1, 1, 400, 4)
    v = torch.ones(1, 1, 400, 1)
    output = kernel(q[None], k[None], v, None, dropout=0.5)
    assert output.std() > 0
    torch.testing.assert_close(output.mean(), torch.tensor(1.0), atol=0.02, rtol=0)
    assert kernel(q[None], k[None], v, None, dropout=0.0).allclose(torch.ones(()))


def test_large_scores_stay_finite():
    q = torch.full((1, 1, 2, 4), 1e4)
    for kernel in (Eager(), Fused()):
        assert kernel(q, q, q, Mask(causal=True)).equal(q)


@pytest.mark.parametrize(
    "mask", [None, Mask(causal=True), Mask(bias=torch.randn(1, 2, 5, 5).bfloat16())], ids=["none", "causal", "bias"]
)
@pytest.mark.parametrize("automatic", [False, True])
def test_on_cpu_gradients_in_bf16_come_from_fp32(mask, automatic):
    low = [torch.randn(2, 2, 5, 8, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
    exact = [x.detach().float().requires_grad_() for x in low]
    with torch.autocast("cpu", torch.bfloat16, enabled=automatic):
        output = Fused()(*low, mask)
    wide = mask if mask is None or mask.bias is None else Mask(bias=mask.bias.float())
    expected = Fused()(*exact, wide)
    assert output.dtype is torch.bfloat16 and torch.equal(output, expected.bfloat16())
    seed = torch.randn_like(output)
    for x, y in zip(
        torch.autograd.grad(output, low, seed), torch.autograd.grad(expected, exact, seed.float()), strict=True
    ):
        assert torch.equal(x, y.bfloat16())
