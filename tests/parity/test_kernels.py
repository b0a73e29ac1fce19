"""Every exact kernel equals `Eager`: values and gradients, also of the bias."""

import pytest
import torch

from sublayer.nn import Eager, Fused, Mask, MultiHeadAttention

B, H, T, S = 3, 4, 5, 7


def keep():
    return torch.arange(S) < torch.tensor([S, 4, 0])[:, None]


def pairs():
    hidden = torch.rand(B, H, T, S) < 0.6
    hidden[0, 1, 2] = True  # a query that may see nothing
    return ~hidden


MASKS = {
    "none": lambda bias: None,
    "padding": lambda bias: Mask.padding(keep()),
    "causal": lambda bias: Mask(causal=True),
    "window": lambda bias: Mask(window=1),
    "documents": lambda bias: Mask(documents=torch.tensor([[0, 0, 0, 1, 1, 1, 2]]).expand(B, S)),
    "bias": lambda bias: Mask(bias=bias),
    "pairs": lambda bias: Mask(keep=pairs()),
    "causal window": lambda bias: Mask(causal=True, window=2),
    "causal documents": lambda bias: Mask(causal=True, documents=torch.arange(S).expand(B, S) // 3),
    "padding bias": lambda bias: Mask.padding(keep()) & Mask(bias=bias),
    "all at once": lambda bias: Mask(keep=pairs(), causal=True, window=3, bias=bias),
}


def run(kernel, mask, groups, widths, dtype=torch.float64):
    torch.manual_seed(1)
    d_k, d_v = widths
    q, k, v = torch.randn(B, H, T, d_k), torch.randn(B, groups, S, d_k), torch.randn(B, groups, S, d_v)
    bias = torch.randn(1, H, T, S)
    leaves = [x.to(dtype).requires_grad_() for x in (q, k, v, bias)]
    output = kernel(*leaves[:3], MASKS[mask](leaves[3]), scale=0.4)
    output.backward(torch.randn(output.shape).to(dtype))
    return [output.detach()] + [torch.zeros(()) if x.grad is None else x.grad for x in leaves]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("groups", [4, 2, 1])
@pytest.mark.parametrize("widths", [(8, 8), (6, 10)])
def test_fused_is_eager(mask, groups, widths):
    for ours, reference in zip(run(Fused(), mask, groups, widths), run(Eager(), mask, groups, widths), strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, reference, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("mask", MASKS)
def test_fused_is_eager_in_single_precision(mask):
    runs = (run(kernel, mask, 2, (8, 8), torch.float32) for kernel in (Fused(), Eager()))
    for ours, reference in zip(*runs, strict=True):
        torch.testing.assert_close(ours, reference, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("queries, keys", [(1, 1), (1, 6), (4, 4), (3, 6), (6, 3)])
def test_causal_over_any_two_lengths(queries, keys):
    q, k = torch.randn(2, 2, queries, 8), torch.randn(2, 2, keys, 8)
    fused, eager = (kernel(q, k, k, Mask(causal=True)) for kernel in (Fused(), Eager()))
    torch.testing.assert_close(fused, eager, atol=1e-6, rtol=1e-5)
    assert eager[:, :, : max(queries - keys, 0)].eq(0).all()


@pytest.mark.parametrize("train", [True, False])
def test_attention_with_either_kernel(train, perturb):
    fused = perturb(MultiHeadAttention(16, 4, num_kv_heads=2, d_k=6, d_v=10, dropout=0.0)).train(train)
    eager = MultiHeadAttention(16, 4, num_kv_heads=2, d_k=6, d_v=10, dropout=0.0, kernel=Eager()).train(train)
    eager.load_state_dict(fused.state_dict())
    query, key = torch.randn(B, T, 16), torch.randn(B, S, 16)
    mask = Mask.padding(keep())
    outputs = [attend(query, key, key, mask) for attend in (fused, eager)]
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)
    for output in outputs:
        output.square().sum().backward()
    for one, other in zip(fused.parameters(), eager.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, atol=1e-5, rtol=1e-4)
