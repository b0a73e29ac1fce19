from functools import partial

import pytest
import torch

from sublayer.nn import (
    DecoderCache,
    DecoderLayer,
    Eager,
    FeedForward,
    LayerCache,
    Mask,
    MultiHeadAttention,
    PackedAttention,
    Rotary,
    Sinusoidal,
    SteppedLayer,
    SublayerConnection,
    SwiGLU,
    Tabled,
    stepped,
)

ROWS, SOURCE, WIDTH = 4, 5, 16
BIAS = Mask(causal=True, bias=torch.randn(1, 4, 1, 3))
HIDDEN = Mask(bias=torch.tensor([0.0, 0, -torch.inf, 0, 0]).expand(ROWS, 1, 1, SOURCE))


def layer(*, ffn=FeedForward, norm_first=True, cross=True, **settings):
    made = DecoderLayer(
        WIDTH,
        MultiHeadAttention(WIDTH, 4, **settings),
        ffn(WIDTH),
        cross_attn=MultiHeadAttention(WIDTH, 4, scale=settings.get("scale")) if cross else None,
        connect=partial(SublayerConnection, norm_first=norm_first),
    )
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    made.self_attn = PackedAttention(made.self_attn)
    return made.eval()


def filled(made, readers=1):
    """A cache that holds two positions, and the source where there is cross-attention."""
    cache = DecoderCache(1).layers[0]._replace(readers=readers)
    x, memory = torch.randn(ROWS, 2, WIDTH), torch.randn(ROWS // readers, SOURCE, WIDTH)
    made(x, memory, Mask(causal=True), None, cache)
    return cache


def copied(cache):
    new = LayerCache(type(cache.self_attn)(), cache.cross_attn, cache.readers)
    new.self_attn.append(cache.self_attn.kv)
    return new


@pytest.mark.parametrize("mask", [None, Mask(causal=True), BIAS], ids=["none", "causal", "bias"])
@pytest.mark.parametrize("memory_mask", [None, HIDDEN], ids=["whole", "hidden"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"norm_first": False},
        {"ffn": SwiGLU, "num_kv_heads": 2, "scale": 0.3},
        {"rotate": Rotary(4), "d_v": 3},
        {"cross": False},
    ],
    ids=str,
)
def test_a_step_gives_the_same_numbers(settings, mask, memory_mask, monkeypatch):
    usual, x = layer(**settings), torch.randn(ROWS, 1, WIDTH)
    quick, cache = stepped(usual), filled(usual)
    again = copied(cache)
    expected = usual(x, None, mask, memory_mask, cache)
    monkeypatch.delattr(DecoderLayer, "forward")  # only a step of its own can answer
    torch.testing.assert_close(quick(x, None, mask, memory_mask, again), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(again.self_attn.kv, cache.self_attn.kv, atol=1e-6, rtol=0)


def test_rows_that_share_a_memory(monkeypatch):
    usual, x, hidden = layer(), torch.randn(ROWS, 1, WIDTH), HIDDEN.select(torch.arange(2))
    cache = filled(usual, readers=2)
    again = copied(cache)
    expected = usual(x, None, None, hidden, cache)
    monkeypatch.delattr(DecoderLayer, "forward")
    torch.testing.assert_close(stepped(usual)(x, None, None, hidden, again), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("tokens", [1, 2])
@pytest.mark.parametrize("kernel", [None, Eager()])
@pytest.mark.parametrize("said", ["nothing", "a window", "padding"])
def test_all_else_goes_the_usual_way(tokens, kernel, said):
    usual, x = layer(kernel=kernel), torch.randn(ROWS, tokens, WIDTH)
    memory, keep = torch.randn(ROWS, SOURCE, WIDTH), torch.ones(ROWS, 2 + tokens).bool()
    keep[0, 0] = False
    mask = {"nothing": None, "a window": Mask(causal=True, window=1), "padding": Mask.padding(keep)}[said]
    cache = filled(usual)
    again = copied(cache)
    torch.testing.assert_close(stepped(usual)(x, memory, mask, None, again), usual(x, memory, mask, None, cache))
    first = [made(x, memory, None, None, DecoderCache(1).layers[0]) for made in (stepped(usual), usual)]
    torch.testing.assert_close(*first)
    torch.testing.assert_close(stepped(usual)(x, memory), usual(x, memory))


def test_layers_of_other_parts_stay_as_they_are():
    class Gate(FeedForward):
        pass

    turned = layer()
    turned.cross_attn.rotate = Rotary(4)
    for other in (layer(ffn=Gate), turned, torch.nn.Identity()):
        assert stepped(other) is other
    assert type(stepped(layer())) is SteppedLayer


def test_a_table_holds_what_the_position_computes():
    position = Sinusoidal(6)
    table = Tabled(position)
    for index in (torch.arange(3, 5), torch.tensor([[0, 700], [64, 2]]), torch.arange(1)):
        end = int(index.max()) + 1
        assert torch.equal(table(index, end), position(index, end))
