"""Mask constants overflow in fp16, two of them add up to -inf, and a dead row becomes uniform."""

import pytest
import torch

from sublayer.nn import Eager, Fused, Mask, attention


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_all_minimum_is_no_uniform_distribution(dtype):
    x = torch.randn(1, 1, 3, 4, dtype=dtype)
    mask = Mask.padding(torch.zeros(1, 3)) & Mask(causal=True)
    output, weights = attention(x, x, x, mask)
    assert weights.eq(0).all() and output.eq(0).all()


@pytest.mark.parametrize("kernel", [Eager(), Fused()], ids=["eager", "fused"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("low", [-1e4, -6e4])
def test_scores_as_low_as_the_type_goes_do_not_leak(kernel, dtype, low):
    """-1e4 as a mask constant loses to real scores below it; here the seen keys score so low, the hidden ones 0."""
    q = torch.tensor([[[[1.0]]]], dtype=dtype)
    k = torch.tensor([low, low, 0.0], dtype=dtype).view(1, 1, 3, 1)
    v = torch.tensor([1.0, 3.0, 100.0], dtype=dtype).view(1, 1, 3, 1)
    output = kernel(q, k, v, Mask.padding(torch.tensor([[1, 1, 0]])), scale=1.0)
    assert output.item() == 2.0


@pytest.mark.parametrize("dtype, atol", [(torch.float16, 5e-3), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("autocast", [False, True])
def test_a_padded_batch_with_a_causal_mask(tiny, ragged, dtype, atol, autocast):
    model, keep, ids = tiny("decoder", decoder_layers=1), ragged([5, 2, 0], left=True), torch.randint(11, (3, 5))
    expected = model.decoder(model.embed(ids), mask=Mask.padding(keep) & Mask(causal=True))
    if not autocast:
        model.to(dtype)
    with torch.autocast("cpu", dtype, enabled=autocast):
        output = model.decoder(model.embed(ids), mask=Mask.padding(keep) & Mask(causal=True))
    assert output.isfinite().all()
    error = (output.float() - expected).abs() / expected.abs().clamp(min=1)
    assert error[keep].max() < atol
