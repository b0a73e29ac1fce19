"""Prefill and steps, of one token or several, are the full pass."""

import pytest
import torch

from sublayer.nn import DecoderCache, Mask

PIECES = [(1, 1, 1, 1, 1, 1, 1), (4, 1, 1, 1), (3, 2, 2), (1, 6), (7,)]
precision = pytest.mark.parametrize("dtype, atol", [(torch.float32, 1e-5), (torch.float64, 1e-10)])
pieces = pytest.mark.parametrize("pieces", PIECES, ids=str)
settings = pytest.mark.parametrize(
    "settings",
    [{}, {"num_kv_heads": 2, "kernel": "eager", "norm_first": False}, {"kernel": {"kind": "local", "window": 2}}],
    ids=["default", "grouped", "local"],
)


def spans(pieces):
    ends = torch.tensor(pieces).cumsum(0).tolist()
    return zip([0, *ends], ends, strict=False)


@precision
@pieces
@settings
def test_language_model(tiny, position, dtype, atol, pieces, settings):
    model, ids = tiny("decoder", position=position, **settings).to(dtype), torch.randint(11, (2, 7))
    cache = DecoderCache(2)
    steps = [model(ids[:, start:end], cache=cache) for start, end in spans(pieces)]
    torch.testing.assert_close(torch.cat(steps, 1), model(ids), atol=atol, rtol=0)
    assert cache.length == 7


@precision
@pieces
@settings
def test_encoder_decoder(tiny, position, ragged, dtype, atol, pieces, settings):
    model, keep = tiny(position=position, **settings).to(dtype), ragged([6, 4])
    src, trg = torch.randint(13, (2, 6)), torch.randint(11, (2, 7))
    memory, mask, cache = model.encode(src, keep), Mask.padding(keep), DecoderCache(2)
    steps = [model.decode(trg[:, start:end], memory, None, mask, cache) for start, end in spans(pieces)]
    full = model.decode(trg, memory, None, mask)
    torch.testing.assert_close(torch.cat(steps, 1), full, atol=atol, rtol=0)


@precision
@pieces
def test_padding_on_the_left(tiny, position, ragged, dtype, atol, pieces):
    model, keep = tiny("decoder", position=position).to(dtype), ragged([7, 5], left=True)
    ids, cache = torch.randint(11, (2, 7)), DecoderCache(2)
    steps = [model(ids[:, start:end], keep[:, :end], cache) for start, end in spans(pieces)]
    torch.testing.assert_close(torch.cat(steps, 1)[keep], model(ids, keep)[keep], atol=atol, rtol=0)


@precision
def test_a_window_over_the_cache(tiny, position, dtype, atol):
    model, ids, cache = tiny("decoder", position=position).to(dtype), torch.randint(11, (2, 7)), DecoderCache(2)
    steps = [model(ids[:, start:end], Mask(window=2), cache) for start, end in spans((3, 1, 2, 1))]
    torch.testing.assert_close(torch.cat(steps, 1), model(ids, Mask(window=2)), atol=atol, rtol=0)


@precision
def test_chosen_rows_go_on(tiny, position, dtype, atol):
    model = tiny(position=position).to(dtype)
    src, trg = torch.randint(13, (3, 6)), torch.randint(11, (3, 4))
    memory, cache, rows = model.encode(src), DecoderCache(2), torch.tensor([2, 0, 2, 1])
    model.decode(trg[:, :3], memory, cache=cache)
    cache.select(rows)
    step = model.decode(trg[rows, 3:], None, cache=cache)
    torch.testing.assert_close(step, model.decode(trg, memory)[rows, 3:], atol=atol, rtol=0)


def test_the_memory_is_projected_once(tiny):
    model, calls = tiny(), []
    for layer in model.decoder.layers:
        layer.cross_attn.k_proj.register_forward_hook(lambda *_: calls.append(1))
    memory, cache = model.encode(torch.randint(13, (2, 6))), DecoderCache(2)
    for token in torch.randint(11, (3, 2, 1)):
        model.decode(token, memory, cache=cache)
    assert len(calls) == 2
