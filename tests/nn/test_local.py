import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from sublayer.errors import ShapeError
from sublayer.nn import DecoderCache, DecoderLayer, Eager, FeedForward, Local, Mask, MultiHeadAttention
from sublayer.nn.local import BLOCK

B, H, G = 2, 4, 2
MASKS = {
    "none": lambda T, S, bias: None,
    "padding": lambda T, S, bias: Mask.padding(torch.arange(S) < torch.tensor([S - S // 3, 0])[:, None]),
    "scattered": lambda T, S, bias: Mask.padding(torch.rand(B, S) < 0.4),
    "pairs": lambda T, S, bias: Mask(keep=torch.rand(B, 1, T, S) < 0.4),
    "documents": lambda T, S, bias: Mask(documents=torch.arange(S).expand(B, S) // 50),
    "bias": lambda T, S, bias: Mask(bias=bias),
    "all at once": lambda T, S, bias: Mask(keep=torch.rand(B, H, T, S) < 0.6, window=90, bias=bias),
}
LENGTHS = [(40, 40), (BLOCK, BLOCK), (BLOCK + 1, BLOCK + 1), (300, 300), (1, 200), (150, 290)]


def inputs(queries, keys, dtype=torch.float64):
    shapes = (B, H, queries, 8), (B, G, keys, 8), (B, G, keys, 6), (1, H, queries, keys)
    return [torch.randn(shape, dtype=dtype) for shape in shapes]


def results(kernel, tensors, mask, narrower):
    """Output and gradients of q, k, v and bias."""
    torch.manual_seed(1)
    leaves = [x.clone().requires_grad_() for x in tensors]
    T, S = leaves[3].shape[2:]
    mask = narrower & mask(T, S, leaves[3])
    output = kernel(*leaves[:3], mask, scale=0.4)
    output.backward(torch.randn(output.shape).to(output.dtype))
    return [output.detach()] + [torch.zeros(()) if x.grad is None else x.grad for x in leaves]


@pytest.mark.parametrize("window", [0, 7, BLOCK, 1000])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_local_is_eager_with_a_window(mask, causal, window):
    for lengths in LENGTHS:
        tensors = inputs(*lengths)
        ours = results(Local(window), tensors, mask, Mask(causal=causal))
        expected = results(Eager(), tensors, mask, Mask(causal=causal, window=window))
        for one, other in zip(ours, expected, strict=True):
            torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("causal", [False, True])
def test_in_single_precision_and_without_gradients(causal):
    tensors, narrower = inputs(300, 300, torch.float32), Mask(causal=causal)
    ours = results(Local(60), tensors, MASKS["padding"], narrower)
    expected = results(Eager(), tensors, MASKS["padding"], narrower & Mask(window=60))
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
    mask = narrower & MASKS["padding"](300, 300, None)
    with torch.no_grad():
        torch.testing.assert_close(Local(60)(*tensors[:3], mask, scale=0.4), ours[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("queries, keys", [(300, 3), (130, 129)])
@pytest.mark.parametrize("causal", [False, True])
def test_more_queries_than_keys(queries, keys, causal):
    q, k, v, _ = inputs(queries, keys)
    for window in (0, 2, 200):
        ours, expected = (
            Local(window)(q, k, v, Mask(causal=causal)),
            Eager()(q, k, v, Mask(causal=causal, window=window)),
        )
        torch.testing.assert_close(ours, expected, atol=1e-10, rtol=1e-10)


def test_right_values():
    v = torch.randn(1, 1, 300, 3)
    zero = torch.zeros(1, 1, 300, 4)  # every key that is seen weighs the same
    assert Local(0)(zero, zero, v).equal(v)
    both, behind = Local(1)(zero, zero, v), Local(1)(zero, zero, v, Mask(causal=True))
    torch.testing.assert_close(both[..., 128, :], v[..., 127:130, :].mean(-2))
    torch.testing.assert_close(behind[..., 128, :], v[..., 127:129, :].mean(-2))
    torch.testing.assert_close(both[..., 299, :], v[..., 298:, :].mean(-2))
    assert behind[..., 0, :].equal(v[..., 0, :])


@pytest.mark.parametrize("dtype, atol", [(torch.float16, 5e-3), (torch.bfloat16, 3e-2)], ids=["fp16", "bf16"])
def test_half_precision_and_dead_rows(dtype, atol):
    q, k, v, _ = inputs(300, 300, torch.float32)
    mask = Mask.padding(torch.arange(300) < torch.tensor([100, 0])[:, None])
    low = [x.to(dtype).requires_grad_() for x in (q, k, v)]
    output = Local(20)(*low, mask)
    assert output.dtype == dtype and output[0, :, 120:].eq(0).all() and output[1].eq(0).all()
    torch.testing.assert_close(output.float(), Local(20)(q, k, v, mask), atol=atol, rtol=0)
    output.float().square().sum().backward()
    assert all(x.grad.isfinite().all() for x in low)
    assert low[0].grad[1].eq(0).all()


def test_dropout_drops_weights_and_keeps_their_mean():
    zero, v = torch.zeros(1, 1, 300, 4), torch.ones(1, 1, 300, 1)
    output = Local(100)(zero, zero, v, None, dropout=0.5)
    assert output.std() > 0
    torch.testing.assert_close(output.mean(), torch.tensor(1.0), atol=0.02, rtol=0)


@pytest.mark.parametrize("left", [False, True])
def test_prefill_and_steps_are_the_full_pass(perturb, left):
    attend = MultiHeadAttention(16, 4, num_kv_heads=2, kernel=Local(5))
    layer = perturb(DecoderLayer(16, attend, FeedForward(16))).eval()
    x, keep = torch.randn(2, 150, 16), torch.ones(2, 150, dtype=torch.bool)
    keep[1, :9] = not left
    mask, cache = Mask.padding(keep) & Mask(causal=True), DecoderCache(1)
    ends = [0, 140, 141, 142, 147, 150]
    steps = [
        layer(x[:, start:end], mask=Mask.padding(keep[:, :end]) & Mask(causal=True), cache=cache.layers[0])
        for start, end in zip(ends, ends[1:], strict=False)
    ]
    torch.testing.assert_close(torch.cat(steps, 1), layer(x, mask=mask), atol=1e-5, rtol=0)


class Sizes(TorchDispatchMode):
    """How many numbers all operations together have handed over, and the most at once."""

    total = most = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        output = function(*args, **(kwargs or {}))
        for x in output if isinstance(output, tuple | list) else (output,):
            if isinstance(x, torch.Tensor):
                self.total, self.most = self.total + x.numel(), max(self.most, x.numel())
        return output


@pytest.mark.parametrize("causal", [False, True])
def test_twice_the_length_is_twice_the_work_backwards_too(causal):
    def sizes(length):
        q, k, v = (torch.randn(1, 2, length, 8, requires_grad=True) for _ in range(3))
        with Sizes() as sizes:
            Local(30)(q, k, v, Mask.lengths(torch.tensor([length - 9]), length) & Mask(causal=causal)).sum().backward()
        return sizes

    short, long = sizes(20 * BLOCK), sizes(40 * BLOCK)
    assert long.total <= 2.1 * short.total
    assert long.most <= 40 * BLOCK * 2 * 8


def test_a_negative_window_is_refused():
    with pytest.raises(ShapeError, match=r"Mask\(window=-1\) is negative: write how many positions away"):
        Local(-1)
