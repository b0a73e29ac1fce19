"""Decoding with a cache differs from doing it all again."""

import pytest
import torch

from sublayer.nn import DecoderCache

precision = pytest.mark.parametrize("dtype, atol", [(torch.float32, 1e-5), (torch.float64, 1e-10)])


@precision
@pytest.mark.parametrize("left", [False, True])
def test_five_tokens_one_by_one(tiny, position, ragged, dtype, atol, left):
    model, ids = tiny("decoder", position=position).to(dtype), torch.randint(11, (2, 5))
    keep = ragged([5, 3], left=True) if left else ragged([5, 5])
    full, cache, steps = model(ids, keep), DecoderCache(2), []
    for t in range(5):
        assert cache.length == t
        steps.append(model(ids[:, t : t + 1], keep[:, : t + 1], cache))
    steps = torch.cat(steps, 1)
    torch.testing.assert_close(steps[keep], full[keep], atol=atol, rtol=0)
    assert steps[keep].argmax(-1).equal(full[keep].argmax(-1))


@precision
def test_a_translation_one_by_one(tiny, position, ragged, dtype, atol):
    model, keep = tiny(position=position).to(dtype), ragged([6, 2])
    src, trg = torch.randint(13, (2, 6)), torch.randint(11, (2, 5))
    memory, cache = model.encode(src, keep), DecoderCache(2)
    steps = [model.project(model.decode(trg[:, t : t + 1], memory, None, keep, cache)) for t in range(5)]
    torch.testing.assert_close(torch.cat(steps, 1), model(src, trg, keep), atol=atol, rtol=0)
