import copy

import pytest
import torch
from torch import nn

from sublayer.errors import ConfigError, ShapeError
from sublayer.inspect import attention_maps, shapes
from sublayer.models import Transformer
from sublayer.nn import DecoderCache, Eager, Encoder, EncoderLayer, FeedForward, Local, Mask, MultiHeadAttention

SOURCE, TARGET = torch.arange(10).view(2, 5), torch.arange(6).view(2, 3)


def perturbed(model):
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


@pytest.fixture
def model():
    return perturbed(Transformer(11, 13, d_model=8, num_layers=2, num_heads=2, d_ff=16))


def attend(**options):
    return perturbed(MultiHeadAttention(8, 4, **options))


def test_every_attention_by_its_name_in_the_models_order(model):
    with attention_maps(model) as maps:
        model(SOURCE, TARGET)
    layers = range(2)
    assert list(maps) == [f"encoder.layers.{i}.self_attn" for i in layers] + [
        f"decoder.layers.{i}.{part}" for i in layers for part in ("self_attn", "cross_attn")
    ]
    assert [m.shape for m in maps.encoder] == [(2, 2, 5, 5)] * 2
    assert [m.shape for m in maps.decoder] == [(2, 2, 3, 3)] * 2
    assert [m.shape for m in maps.cross] == [(2, 2, 3, 5)] * 2
    torch.testing.assert_close(maps.cross[1], maps["decoder.layers.1.cross_attn"], rtol=0, atol=0)


def test_weights_are_the_formulas():
    attn, x = attend(), torch.randn(2, 5, 8)
    q, k = (proj(x).unflatten(-1, (4, 2)).transpose(1, 2) for proj in (attn.q_proj, attn.k_proj))
    with attention_maps(attn) as maps:
        attn(x, x, x)
    torch.testing.assert_close(maps[""], (q @ k.mT / 2**0.5).softmax(-1))


@pytest.mark.parametrize(
    "options",
    [{}, {"num_kv_heads": 2}, {"scale": 0.3}, {"kernel": Eager(lambda scores: 2 * torch.tanh(scores / 2))}],
    ids=["plain", "grouped", "scale", "score_mod"],
)
def test_outputs_stay_and_so_does_the_module(options):
    attn, x = attend(**options), torch.randn(2, 5, 8) * 3
    before, kernel = attn(x, x, x, Mask(causal=True)), attn.kernel
    with attention_maps(attn) as maps:
        during = attn(x, x, x, Mask(causal=True))
        assert attn.kernel is not kernel
    assert attn.kernel is kernel
    torch.testing.assert_close(during, before, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(maps[""].sum(-1), torch.ones(2, 4, 5))
    assert (maps[""].triu(1) == 0).all() and not maps[""].requires_grad


def test_a_window_is_seen():
    attn, x = attend(kernel=Local(1)), torch.randn(2, 5, 8)
    before = attn(x, x, x, Mask(causal=True))
    with attention_maps(attn) as maps:
        torch.testing.assert_close(attn(x, x, x, Mask(causal=True)), before)
    near = Mask(causal=True, window=1).visible(5, 5)
    assert maps[""].ne(0).equal(near.expand(2, 4, 5, 5))


def test_the_kernels_return_after_an_error(model):
    kernels = [m.kernel for m in _attentions(model)]
    with pytest.raises(ShapeError), attention_maps(model):
        model(SOURCE, TARGET, cross_mask=torch.ones(2, 4, dtype=torch.bool))
    assert all(m.kernel is k for m, k in zip(_attentions(model), kernels, strict=True))


def test_a_kernel_with_parameters_is_a_child_before_and_after():
    class Child(nn.Module):
        def forward(self, q, k, v, mask, *, scale, dropout):
            return Eager()(q, k, v, mask, scale=scale)

    attn = MultiHeadAttention(8, 2, kernel=Child())
    shapes(attn, *[torch.randn(1, 3, 8)] * 3)
    assert isinstance(dict(attn.named_children())["kernel"], Child)


def test_padding_is_exactly_zero_and_a_row_that_sees_nothing_too(model):
    keep = torch.tensor([[True] * 5, [False] * 5])
    keep[0, 3:] = False
    with attention_maps(model) as maps:
        model(SOURCE, TARGET, keep)
    for weights in (*maps.encoder, *maps.cross):
        assert (weights[0, ..., 3:] == 0).all() and (weights[1] == 0).all()
        torch.testing.assert_close(weights[0].sum(-1), torch.ones_like(weights[0].sum(-1)))


def test_training_records_the_weights_before_dropout():
    attn, x = attend(dropout=0.5).train(), torch.randn(2, 5, 8)
    with attention_maps(attn) as maps:
        attn(x, x, x)
    assert attn.training
    torch.testing.assert_close(maps[""].sum(-1), torch.ones(2, 4, 5))


def test_steps_of_cached_decoding_join_to_the_full_passs_maps(model):
    with torch.no_grad(), attention_maps(model) as full:
        model(SOURCE, TARGET)
    with torch.no_grad(), attention_maps(model) as steps:
        memory, cache = model.encode(SOURCE), DecoderCache(2)
        for t in range(3):
            model.decode(TARGET[:, t : t + 1], memory, cache=cache)
    assert [w.shape[-2:] for w in steps.calls["decoder.layers.0.self_attn"]] == [(1, 1), (1, 2), (1, 3)]
    assert dict(steps).keys() == dict(full).keys()
    for name in full:
        torch.testing.assert_close(steps[name], full[name], rtol=1e-5, atol=1e-6)
    assert (steps.decoder[0].triu(1) == 0).all()


def test_a_shared_layer_has_a_map_for_each_of_its_places():
    layer = perturbed(EncoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 16)))
    shared, separate = Encoder([layer, layer]), Encoder([layer, copy.deepcopy(layer)])
    x = torch.randn(1, 4, 8)
    with attention_maps(shared) as ours:
        shared(x)
    with attention_maps(separate) as expected:
        separate(x)
    assert list(ours) == list(expected) == ["layers.0.self_attn", "layers.1.self_attn"]
    for name in expected:
        torch.testing.assert_close(ours[name], expected[name])


def test_batches_that_differ_cannot_be_joined():
    attn = attend()
    with attention_maps(attn) as maps:
        for rows in (3, 1):
            attn(*[torch.randn(rows, 2, 8)] * 3)
    assert [w.size(0) for w in maps.calls[""]] == [3, 1]
    with pytest.raises(ShapeError, match="batches of 1 and 3 rows.* one greedy decoding.* maps.calls"):
        maps[""]


def test_a_kernel_that_is_not_this_softmax_is_refused_with_all_its_places(model):
    class Linear:
        def __call__(self, q, k, v, mask, *, scale, dropout):
            return v

    for i in (0, 1):
        model.encoder.layers[i].self_attn.kernel = Linear()
    with pytest.raises(ConfigError, match="Eager, Fused or Local") as error, attention_maps(model):
        pass
    assert [line[4:] for line in str(error.value).splitlines()[1:]] == [
        f"encoder.layers.{i}.self_attn: Linear" for i in (0, 1)
    ]


def test_nothing_to_see_is_an_error():
    with (
        pytest.raises(ConfigError, match="Linear holds no sublayer.nn.MultiHeadAttention"),
        attention_maps(nn.Linear(2, 2)),
    ):
        pass


def test_a_wrong_name_hears_the_nearest(model):
    with attention_maps(model) as maps:
        model.encode(SOURCE)
    assert maps.cross == [] and "decoder.layers.0.cross_attn" not in maps
    with pytest.raises(KeyError, match="Did you mean 'encoder.layers.0.self_attn'"):
        maps["encoder.layer.0.self_attn"]


def _attentions(model):
    return [m for m in model.modules() if isinstance(m, MultiHeadAttention)]


@pytest.mark.parametrize("kind", ["layer-relative", "relative", "alibi", "rotary"])
@pytest.mark.parametrize("inference", [False, True])
def test_every_position_and_form_has_its_stack(tiny, kind, inference):
    model = tiny(position={"kind": kind})
    before = model(SOURCE, TARGET)
    model = model.for_inference() if inference else model
    with torch.no_grad(), attention_maps(model) as maps:
        torch.testing.assert_close(model(SOURCE, TARGET), before, rtol=1e-5, atol=1e-5)
    assert [len(maps.encoder), len(maps.decoder), len(maps.cross)] == [2, 2, 2]
    for weights in maps.values():
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
