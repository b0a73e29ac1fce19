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


def numbers(*rows):
    return torch.tensor(rows)


ROWS = numbers([0, 0, 1, 1, 2, 2, 2], [0, 1, 2, 3, 4, 4, 5], [3, 3, 3, 3, 3, 3, 3])
QUERIES = numbers([0, 1, 1, 1, 2], [0, 1, 2, 4, 5], [3, 3, 3, 3, 3])
PACKED = {
    "keys of another row": lambda: (Mask(documents=ROWS, query_documents=QUERIES), T),
    "the same keys for all": lambda: (Mask(documents=ROWS[:1], query_documents=QUERIES), T),
    "a document in two pieces": lambda: (Mask(documents=numbers([0, 1, 0, 0, 2, 2, 2]).expand(B, S)), S),
    "among the keys": lambda: (Mask(documents=ROWS), S),
    "causal": lambda: (Mask(documents=ROWS, causal=True), S),
    "a window": lambda: (Mask(documents=ROWS, window=1), S),
    "causal, a window": lambda: (Mask(documents=ROWS, causal=True, window=1), S),
    "the last of the keys": lambda: (Mask(documents=ROWS, causal=True), T),
    "padding": lambda: (Mask.padding(keep()) & Mask(documents=ROWS), S),
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("groups", [4, 2])
def test_fused_is_eager_in_packed_rows(packed, groups):
    mask, queries = PACKED[packed]()
    results = []
    for kernel in (Fused(), Eager()):
        torch.manual_seed(1)
        shapes = ((B, queries, H, 6), (B, S, groups, 6), (B, S, groups, 10))
        leaves = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
        output = kernel(*(x.transpose(1, 2) for x in leaves), mask, scale=0.4)
        output.backward(torch.randn(output.shape, dtype=torch.float64))
        results.append([output.detach(), *(x.grad for x in leaves)])
    for ours, reference in zip(*results, strict=True):
        torch.testing.assert_close(ours, reference, atol=1e-10, rtol=1e-10)


def test_equally_long_documents_are_one_batch_without_a_mask(monkeypatch):
    """No score across documents is computed."""
    calls, sdpa = [], torch.nn.functional.scaled_dot_product_attention

    def counted(q, k, v, mask, *args, **options):
        calls.append((q.shape, k.shape, mask))
        return sdpa(q, k, v, mask, *args, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", counted)
    q, k = torch.randn(1, H, 8, 6), torch.randn(1, H, 7, 6)
    Fused()(q, k, k, Mask.packed([2, 2, 3]).seen_from(Mask.packed([1, 1, 6])))
    assert calls == [((2, H, 1, 6), (2, H, 2, 6), None), ((1, H, 6, 6), (1, H, 3, 6), None)]
