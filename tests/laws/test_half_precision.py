"""fp16, bf16 and autocast: nothing NaN, nothing far from fp32."""

import pytest
import torch

from sublayer.nn import Eager, Fused, Local, Mask

HALF = [(torch.float16, 5e-3), (torch.bfloat16, 3e-2)]
half = pytest.mark.parametrize("dtype, atol", HALF, ids=["fp16", "bf16"])
MASKS = {
    "padding and causal": Mask.padding(torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0]])) & Mask(causal=True),
    "with a bias": Mask.padding(torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0]])) & Mask(bias=torch.randn(1, 4, 4, 4)),
}


@half
@pytest.mark.parametrize("kernel", [Eager(), Fused(), Local(5)], ids=["eager", "fused", "local"])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_kernels(dtype, atol, kernel, mask):
    q, k, v = torch.randn(3, 2, 4, 4, 8).unbind(0)
    low = [x.to(dtype).requires_grad_() for x in (q, k, v)]
    output = kernel(*low, mask)
    assert output.dtype == dtype and output[1].eq(0).all()
    torch.testing.assert_close(output.float(), kernel(q, k, v, mask), atol=atol, rtol=0)
    output.float().sum().backward()
    assert all(x.grad.isfinite().all() for x in low)


@half
@pytest.mark.parametrize("norm_first", [True, False])
def test_a_model(tiny, ragged, position, norm_first, dtype, atol):
    model, keep = tiny(position=position, norm_first=norm_first), ragged([6, 3, 0])
    src, trg = torch.randint(13, (3, 6)), torch.randint(11, (3, 6))
    expected = model(src, trg, keep, keep).log_softmax(-1)
    output = model.to(dtype)(src, trg, keep, keep)
    assert output.dtype == dtype and output.isfinite().all()
    # The tolerance is that of one hidden state of size 1; the logits of a perturbed model are a few times larger.
    error = (output.float().log_softmax(-1) - expected).abs().max()
    assert error < atol * max(1, expected.abs().max())


@half
def test_autocast(tiny, ragged, position, dtype, atol):
    model, keep = tiny("encoder", position=position, dropout=0.1, attention_dropout=0.1), ragged([6, 3, 0])
    ids = torch.randint(13, (3, 6))
    expected = model(ids, keep)
    with torch.autocast("cpu", dtype):
        output = model(ids, keep)
        trained = model.train()(ids, keep)
    error = (output.float() - expected).abs().max()
    assert error < atol * max(1, expected.abs().max())
    trained.float().square().mean().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@half
def test_decoding_steps(tiny, ragged, position, dtype, atol):
    from sublayer.models.decoding import ContinuationDecoding

    model, keep, ids = tiny("decoder", position=position), ragged([4, 2], left=True), torch.randint(11, (2, 4))
    more = torch.randint(11, (2, 1))
    outputs = []
    for kind in (torch.float32, dtype):
        decoding = ContinuationDecoding(model.to(kind), keep)
        decoding.step(ids)
        outputs.append(decoding.step(more))
    assert outputs[1].dtype == torch.float32 and outputs[1].isfinite().all()
    error = (outputs[1] - outputs[0]).abs().max()
    assert error < atol * max(1, outputs[0].abs().max())
