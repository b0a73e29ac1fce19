"""Compiled and exported models are the models."""

import pytest
import torch
from torch.export import Dim

from sublayer.nn import DecoderCache

SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("learned", "alibi", "none")]
positions = pytest.mark.parametrize("position", ["sinusoidal", "rotary", "relative", *SLOW])


@pytest.fixture(autouse=True)
def afresh():
    torch._dynamo.reset()


def compiled_equals(model, *inputs, backend):
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    torch.testing.assert_close(compiled(*inputs), model(*inputs), atol=1e-5, rtol=0)


@positions
def test_encoder(tiny, position, ragged):
    model, ids = tiny("encoder", position=position), torch.randint(13, (2, 6))
    compiled_equals(model, ids, ragged([6, 4]), backend="eager")


def test_disentangled_encoder_compiled_and_exported(tiny, ragged):
    distances = {"kind": "disentangled", "buckets": 6, "max_distance": 20, "norm": True}
    model, ids = tiny("encoder", position=distances), torch.randint(13, (2, 7))
    compiled_equals(model, ids, ragged([7, 4]), backend="eager")
    free = {0: Dim("batch", min=1, max=64), 1: Dim("length", min=2, max=32)}
    program = torch.export.export(model, (ids, ragged([7, 4])), dynamic_shapes=(free, free), strict=False).module()
    ids, keep = torch.randint(13, (4, 13)), ragged([13, 2, 7, 1])
    torch.testing.assert_close(program(ids, keep)[keep], model(ids, keep)[keep], atol=1e-5, rtol=0)


def test_training_step(tiny, ragged):
    model, keep = tiny("encoder", position="relative", kernel="eager", dropout=0.0).train(), ragged([6, 4])
    ids = torch.randint(13, (2, 6))
    model(ids, keep).square().mean().backward()
    expected = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    torch.compile(model, fullgraph=True, backend="aot_eager")(ids, keep).square().mean().backward()
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.grad, expected[name], atol=1e-6, rtol=1e-4, msg=name)


def test_encoder_decoder(tiny, ragged):
    src, trg, keep = torch.randint(13, (2, 6)), torch.randint(11, (2, 5)), ragged([6, 4])
    compiled_equals(tiny(num_kv_heads=2), src, trg, keep, backend="eager")


@positions
def test_decoding_steps_with_a_cache(tiny, position):
    model, ids = tiny("decoder", position=position), torch.randint(11, (2, 6))
    step = torch.compile(model, fullgraph=True, backend="eager")
    with torch.inference_mode():
        cache = DecoderCache(2)
        outputs = [step(ids[:, start:end], None, cache) for start, end in ((0, 3), (3, 4), (4, 5), (5, 6))]
        torch.testing.assert_close(torch.cat(outputs, 1), model(ids), atol=1e-5, rtol=0)
    assert cache.length == 6


def test_a_decoding_step_that_reads_a_memory(tiny, ragged):
    model, src, trg, keep = tiny(), torch.randint(13, (2, 6)), torch.randint(11, (2, 4)), ragged([6, 4])
    decode = torch.compile(model.decode, fullgraph=True, backend="eager")
    with torch.inference_mode():
        memory, cache = model.encode(src, keep), DecoderCache(2)
        outputs = [decode(trg[:, t : t + 1], memory, None, keep, cache) for t in range(4)]
        full = model.decode(trg, memory, None, keep)
    torch.testing.assert_close(torch.cat(outputs, 1), full, atol=1e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_inductor(tiny, ragged):
    compiled_equals(tiny("encoder"), torch.randint(13, (2, 6)), ragged([6, 4]), backend="inductor")


@positions
def test_export_with_free_batch_and_length(tiny, position, ragged):
    model, ids = tiny("encoder", position=position), torch.randint(13, (2, 7))
    free = {0: Dim("batch", min=1, max=64), 1: Dim("length", min=2, max=32)}
    program = torch.export.export(model, (ids, ragged([7, 4])), dynamic_shapes=(free, free), strict=False).module()
    for lengths in ([5], [13, 2, 7, 1], [7, 4]):
        ids, keep = torch.randint(13, (len(lengths), max(lengths))), ragged(lengths)
        torch.testing.assert_close(program(ids, keep)[keep], model(ids, keep)[keep], atol=1e-5, rtol=0)
