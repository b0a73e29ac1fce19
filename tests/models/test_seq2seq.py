import pytest
import torch

from sublayer.errors import ShapeError
from sublayer.models import Transformer
from sublayer.nn import Mask


@pytest.fixture
def pair():
    return torch.randint(13, (2, 6)), torch.randint(11, (2, 5))


def test_forward_is_encode_decode_project(tiny, pair, ragged):
    model, (src, trg), keep = tiny(), pair, ragged([6, 4])
    memory = model.encode(src, keep)
    expected = model.project(model.decode(trg, memory, None, keep))
    torch.testing.assert_close(model(src, trg, keep), expected)


def test_the_target_is_causal_unless_every_pair_is_spelled(tiny, pair, ragged):
    model, (src, trg) = tiny(), pair
    keep = ragged([5, 3])
    causal = torch.ones(1, 5, 5, dtype=torch.bool).tril()
    for mask in (Mask(causal=True), causal, causal[None], torch.ones(2, 5, dtype=torch.bool)):
        torch.testing.assert_close(model(src, trg, None, mask), model(src, trg))
    padded = model(src, trg, None, keep)
    torch.testing.assert_close(padded[keep], model(src, trg, None, keep[:, None] & causal)[keep])
    everything = model(src, trg, None, torch.ones(2, 1, 5, 5, dtype=torch.bool))
    assert not everything[:, 0].allclose(model(src, trg)[:, 0], atol=1e-3)


def test_cross_attention_heeds_the_source_padding(tiny, pair, ragged):
    model, (src, trg), keep = tiny(), pair, ragged([6, 4])
    for mask in (keep, keep[:, None], keep[:, None, None], Mask.padding(keep)):
        torch.testing.assert_close(model(src, trg, mask), model(src, trg, keep, None, keep))
    everything = torch.ones(2, 6, dtype=torch.bool)
    assert not model(src, trg, keep, None, everything)[1].allclose(model(src, trg, keep)[1], atol=1e-3)


def test_a_source_mask_of_pairs_asks_for_a_cross_mask(tiny, pair):
    model, (src, trg) = tiny(), pair
    mask = torch.ones(2, 6, 6, dtype=torch.bool).tril()
    with pytest.raises(ShapeError, match=r"src_mask of shape \(2, 1, 6, 6\) spells pairs.*Pass cross_mask too"):
        model(src, trg, mask)
    assert model(src, trg, mask, None, torch.ones(2, 6, dtype=torch.bool)).shape == (2, 5, 11)


def test_the_tutorials_defaults():
    with torch.device("meta"):
        model = Transformer(50, 60)
    assert len(model.encoder.layers) == len(model.decoder.layers) == 10
    layer = model.decoder.layers[9]
    assert layer.cross_attn.num_heads == 8 and layer.cross_attn.q_proj.weight.shape == (512, 512)
    assert layer.ffn.up.weight.shape == (2048, 512) and layer.ffn.act is torch.nn.functional.gelu
    assert not layer.sublayer_ffn.norm_first and model.encoder.norm is None
    assert layer.sublayer_ffn.dropout.p == layer.self_attn.dropout == model.source_embed.dropout.p == 0.1


def test_the_tutorials_positions_go_past_max_len():
    model = Transformer(20, 20, 16, 1, 2, 32, max_len=4).eval()
    assert model(torch.randint(20, (1, 9)), torch.randint(20, (1, 7))).shape == (1, 7, 20)
