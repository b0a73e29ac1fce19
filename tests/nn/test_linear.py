import math

import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.nn import (
    Alibi,
    Decoder,
    DecoderCache,
    DecoderLayer,
    FeedForward,
    Linear,
    Mask,
    MultiHeadAttention,
    Preallocated,
    Running,
    elu_plus_one,
)
from sublayer.nn.linear import BLOCK, CHUNK

B, H, G = 2, 4, 2
LENGTHS = [(1, 1), (40, 40), (CHUNK, CHUNK), (CHUNK + 1, CHUNK + 1), (300, 300), (1, 200), (150, 290), (150, 20)]
LENGTHS += [(BLOCK + 1, BLOCK + 3)]


def quadratic(q, k, v, mask, feature_map=elu_plus_one):
    """The formula with every pair spelled out."""
    k, v = (x.repeat_interleave(q.size(1) // k.size(1), 1) for x in (k, v))
    weights = feature_map(q) @ feature_map(k).mT
    visible = None if mask is None else mask.visible(q.size(2), k.size(2))
    if visible is not None:
        weights = weights * visible
    below = weights.sum(-1, keepdim=True)
    return (weights / torch.where(below == 0, 1, below)) @ v


def inputs(queries, keys, dtype=torch.float64):
    shapes = (B, H, queries, 8), (B, G, keys, 8), (B, G, keys, 6)
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


def results(kernel, q, k, v, mask):
    output = kernel(q, k, v, mask)
    torch.manual_seed(1)
    return output, *torch.autograd.grad(output, (q, k, v), torch.randn(output.shape).to(output.dtype))


def padding(keys, left=False):
    keep = torch.arange(keys) < torch.tensor([keys - keys // 3, 0])[:, None]
    return Mask.padding(keep.flip(1) if left else keep)


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("mask", [None, padding, lambda keys: padding(keys, left=True)], ids=["all", "right", "left"])
@pytest.mark.parametrize("causal", [False, True])
def test_linear_is_its_quadratic_form(lengths, mask, causal):
    mask = Mask(causal=causal) & (mask and mask(lengths[1]))
    q, k, v = inputs(*lengths)
    for ours, expected in zip(results(Linear(), q, k, v, mask), results(quadratic, q, k, v, mask), strict=True):
        torch.testing.assert_close(ours, expected, atol=1e-10, rtol=1e-10)


def test_another_feature_map():
    def squared(x):
        return torch.cat((x.square(), x.relu()), -1)

    q, k, v = inputs(200, 200)
    expected = quadratic(q, k, v, Mask(causal=True), squared)
    torch.testing.assert_close(Linear(squared)(q, k, v, Mask(causal=True)), expected)


def test_elu_plus_one():
    x = torch.tensor([-30.0, -1.0, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(
        elu_plus_one(x), x.new_tensor([math.exp(-30), math.exp(-1), 1.0, 3.0]), atol=0, rtol=1e-12
    )
    elu_plus_one(x).sum().backward()
    torch.testing.assert_close(x.grad, x.new_tensor([math.exp(-30), math.exp(-1), 1.0, 1.0]), atol=0, rtol=1e-12)


def test_right_values():
    q = torch.zeros(1, 1, 2, 1)  # φ = 1
    k, v = torch.tensor([0.0, 2.0]).view(1, 1, 2, 1), torch.tensor([1.0, 5.0]).view(1, 1, 2, 1)  # φ = 1, 3
    assert Linear()(q, k, v).flatten().tolist() == [4.0, 4.0]  # (1·1 + 3·5) / (1 + 3)
    assert Linear()(q, k, v, Mask(causal=True)).flatten().tolist() == [1.0, 4.0]
    assert Linear()(q, k, v, scale=0.1).equal(Linear()(q, k, v))


def test_features_that_are_all_zero_give_a_zero_row():
    q, k, v = inputs(5, 5)
    output, *gradients = results(Linear(torch.relu), -q.abs(), k, v, None)
    assert output.eq(0).all() and all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.parametrize("dtype, atol", [(torch.float16, 5e-3), (torch.bfloat16, 3e-2)], ids=["fp16", "bf16"])
@pytest.mark.parametrize("causal", [False, True])
def test_half_precision_sums_past_its_range(dtype, atol, causal):
    """65,504 is the largest number of fp16; these sums go past it."""
    q, k, v = (x.detach() for x in inputs(2000, 2000, torch.float32))
    q, k, v = 4 * q.abs(), 4 * k.abs(), 10 + v
    low = [x.to(dtype).requires_grad_() for x in (q, k, v)]
    mask = Mask(causal=causal)
    output = Linear()(*low, mask)
    assert output.dtype == dtype
    torch.testing.assert_close(output.float(), Linear()(q, k, v, mask), atol=10 * atol, rtol=0)
    with torch.autocast("cpu", dtype):
        assert Linear()(*low, mask).equal(output)
    output.float().sum().backward()
    assert all(x.grad.isfinite().all() for x in low)


PIECES = [0, 140, 141, 142, 147, 150]


def spans():
    return zip(PIECES, PIECES[1:], strict=False)


def decoder(perturb):
    def layer():
        return DecoderLayer(16, MultiHeadAttention(16, 4, num_kv_heads=2, kernel=Linear()), FeedForward(16))

    return perturb(Decoder(layer() for _ in range(2))).eval()


@pytest.mark.parametrize("memory", [Preallocated, Linear().memory])
@pytest.mark.parametrize("left", [None, 0, 9])
def test_prefill_and_steps_are_the_full_pass(perturb, memory, left):
    stack, x, keep = decoder(perturb), torch.randn(2, 150, 16), torch.ones(2, 150, dtype=torch.bool)
    keep[1, :left] = False

    def mask(end):
        return Mask(causal=True) & (Mask.padding(keep[:, :end]) if left is not None else None)

    cache = DecoderCache.of(memory() for _ in range(2))
    steps = [stack(x[:, start:end], mask=mask(end), cache=cache) for start, end in spans()]
    torch.testing.assert_close(torch.cat(steps, 1), stack(x, mask=mask(150)), atol=1e-5, rtol=0)
    assert cache.length == 150


def test_a_step_holds_the_same_however_much_came_before(perturb):
    stack = decoder(perturb)
    cache = stack.new_cache()
    assert all(isinstance(layer.self_attn, Running) for layer in cache.layers)
    for _ in range(3):
        stack(torch.randn(2, 50, 16), mask=Mask(causal=True), cache=cache)
        assert [layer.self_attn.sums.shape for layer in cache.layers] == [(2, 2, 1, 4, 5)] * 2


def test_chosen_rows_go_on(perturb):
    stack, x, rows = decoder(perturb), torch.randn(3, 20, 16), torch.tensor([2, 0, 2, 1])
    cache, causal = stack.new_cache(), Mask(causal=True)
    cache.select(torch.tensor([0, 1, 2]))
    stack(x[:, :15], mask=causal, cache=cache)
    cache.select(rows)
    step = stack(x[rows, 15:], mask=causal, cache=cache)
    torch.testing.assert_close(step, stack(x, mask=causal)[rows, 15:], atol=1e-5, rtol=0)


def test_what_it_cannot_honour_is_refused():
    x = torch.randn(1, 2, 6, 8)
    keep = torch.ones(1, 1, 6, 6, dtype=torch.bool)
    mask = Mask(keep=keep, window=2, bias=Alibi(2)(6, 6, x.device))
    words = (
        r"hide keys \(batch, keys\) and the future, and the mask has window and bias and keep of shape \(1, 1, 6, 6\)"
    )
    with pytest.raises(ConfigError, match=words + r"\. Use Local for a window, Fused for the rest"):
        Linear()(x, x, x, mask)
    with pytest.raises(ConfigError, match="the mask has documents"):
        Linear()(x, x, x, Mask(documents=torch.zeros(1, 6)))
    with pytest.raises(ConfigError, match=r"no weights to drop and dropout is 0\.1: set it to 0"):
        Linear()(x, x, x, dropout=0.1)
