import numpy as np
import pytest
import torch
from torch import nn

from sublayer.errors import ConfigError, ShapeError
from sublayer.inspect import activations, attention_maps, patch_effects, places, replaced
from sublayer.nn import Encoder, EncoderLayer, FeedForward, Linear, MultiHeadAttention

IDS = torch.tensor([[4, 5, 6, 7], [5, 5, 8, 4]])
ATTN = "encoder.layers.1.self_attn"


def test_every_module_has_its_places(tiny):
    model = tiny("encoder")
    found = places(model)
    assert found[:2] == ["embed", "embed.input"] and len(set(found)) == len(found)
    assert {ATTN, f"{ATTN}.input", f"{ATTN}.weights", "encoder.layers.0.ffn.up"} <= set(found)
    assert "encoder.layers.0.ffn.weights" not in found


def test_what_is_read_is_what_the_model_computes(tiny):
    model = tiny("encoder")
    with torch.no_grad(), attention_maps(model) as maps:
        right = model(IDS)
    names = ("embed", "encoder.layers.0", "encoder.layers.1.input", f"{ATTN}.weights", f"{ATTN}.out_proj.input")
    with torch.no_grad(), activations(model, *names) as seen:
        torch.testing.assert_close(model(IDS), right, rtol=1e-5, atol=1e-5)
    assert list(seen) == list(names) and len(seen) == 5
    torch.testing.assert_close(seen["embed"], model.embed(IDS))
    assert seen["encoder.layers.0"] is seen["encoder.layers.1.input"]
    torch.testing.assert_close(seen[f"{ATTN}.weights"], maps[ATTN])
    assert seen[f"{ATTN}.out_proj.input"].shape == (2, 4, 16)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_putting_back_what_was_there_changes_nothing_and_another_thing_something(tiny):
    model = tiny("encoder")
    names = [name for name in places(model) if name not in ("embed.positions.input", "encoder.input")]
    with torch.no_grad():
        right = model(IDS)
        with activations(model, "embed", ATTN, f"{ATTN}.weights", "encoder.layers.0.ffn.up.input") as seen:
            model(IDS)
        for name in seen:
            assert name in names
            with replaced(model, {name: seen[name]}):
                torch.testing.assert_close(model(IDS), right, rtol=1e-5, atol=1e-5)
            with replaced(model, {name: lambda x: 2 * x}):
                assert not torch.allclose(model(IDS), right, atol=1e-3)
        torch.testing.assert_close(model(IDS), right, rtol=0, atol=0)


def test_replaced_weights_are_what_the_values_are_mixed_by():
    attn = MultiHeadAttention(8, 4, num_kv_heads=2, dropout=0.0)
    x, first = torch.randn(1, 3, 8), torch.zeros(1, 4, 3, 3)
    first[..., 0] = 1  # every query looks at the first key alone
    model = nn.Sequential()
    model.attn = attn
    with torch.no_grad(), replaced(model, {"attn.weights": first}):
        mixed = attn(x, x, x)
    values = attn.v_proj(x).view(1, 3, 2, 2).repeat_interleave(2, 2).flatten(2)
    torch.testing.assert_close(mixed, attn.out_proj(values[:, :1].expand(1, 3, 8)))


def test_an_average_and_a_zero_are_functions(tiny):
    model = tiny("encoder")
    with (
        torch.no_grad(),
        replaced(model, {"encoder.layers.0": torch.zeros_like}),
        activations(model, "encoder.norm") as s,
    ):
        model(IDS)
    assert (s["encoder.norm"][:, 0] == s["encoder.norm"][:, 1]).all()


def test_a_shared_layer_passes_several_times():
    layer = EncoderLayer(8, MultiHeadAttention(8, 2), FeedForward(8, 16))
    model = Encoder([layer, layer]).eval()
    with torch.no_grad(), activations(model, "layers.0") as seen:
        model(torch.randn(1, 3, 8))
    assert [x.shape for x in seen.calls["layers.0"]] == [(1, 3, 8)] * 2
    with pytest.raises(ShapeError, match=r"layers.0 was passed 2 times, not once: read calls\['layers.0'\]"):
        seen["layers.0"]


def test_the_answer_returns_place_by_place(tiny):
    """One residual stream: whatever stands before it at all positions brings everything back, one position a part."""
    model = tiny("encoder")
    clean, corrupted = (IDS[:1],), (torch.tensor([[4, 8, 6, 7]]),)

    def score(output):
        return output[0, -1].sum()

    names = ["embed", "encoder.layers.0", f"{ATTN}.weights"]
    effects = patch_effects(model, clean, corrupted, names, score)
    assert effects["embed"] == pytest.approx(1, abs=1e-4) == effects["encoder.layers.0"]
    assert abs(effects[f"{ATTN}.weights"] - 1) > 1e-3
    only = patch_effects(model, clean, corrupted, ["embed"], score, at=np.s_[:, 1])
    assert only["embed"] == pytest.approx(1, abs=1e-4)  # the inputs differ there alone
    assert patch_effects(model, clean, corrupted, ["embed"], score, at=np.s_[:, 0])["embed"] == pytest.approx(
        0, abs=1e-4
    )


def test_what_cannot_be_patched_is_told(tiny):
    model = tiny("encoder")
    with pytest.raises(ConfigError) as error, activations(model, "encoder.layer.0", "embedd"):
        pass
    assert "Did you mean 'encoder.layers.0'?" in str(error.value) and "embedd: Did you mean 'embed'?" in str(
        error.value
    )
    with pytest.raises(ShapeError, match=r"embed has shape \(2, 4, 16\), and what is put there \(1,\)"):
        with replaced(model, {"embed": torch.zeros(1)}):
            model(IDS)
    assert not model.embed._forward_hooks
    with pytest.raises(ConfigError, match="both score 0"):
        patch_effects(model, (IDS,), (IDS + 1,), ["embed"], lambda output: output.sum() * 0)
    with pytest.raises(ShapeError, match=r"the clean run brings \(2, 4, 16\) and the corrupted one \(2, 3, 16\)"):
        patch_effects(model, (IDS,), (IDS[:, :3],), ["embed"], lambda output: output.sum())
    own = MultiHeadAttention(8, 2, kernel=Linear())
    with pytest.raises(ConfigError, match="Eager, Fused or Local attention, and here is Linear"):
        with activations(nn.Sequential(own), "0.weights"):
            pass


def test_a_place_that_nothing_passes_is_told_at_the_end(tiny):
    with pytest.raises(ConfigError, match=r"nothing passed these places .*inference form(.|\n)*embed"):
        with activations(tiny("encoder").for_inference(), "embed"):
            pass
