import pytest
import torch

from sublayer.nn import BiasedAttention, DecoderCache, Mask, MultiHeadAttention, RelativeBias


@pytest.fixture
def attention(perturb):
    attend = MultiHeadAttention(8, 2, dropout=0.0)
    return perturb(BiasedAttention(attend, RelativeBias(2, buckets=4, max_distance=6, bidirectional=False)))


@pytest.mark.parametrize("train", [True, False])
def test_it_is_attention_under_a_mask_with_the_bias(attention, train, ragged):
    x, keep = torch.randn(2, 5, 8), ragged((5, 3))
    expected = attention.attn(x, x, x, Mask(bias=attention.bias(5, 5, x.device)) & Mask.padding(keep))
    assert attention.train(train)(x, x, x, keep).equal(expected)
    assert not attention.attn(x, x, x, keep).allclose(expected)


def test_steps_with_a_cache_equal_the_whole(attention):
    x, cache = torch.randn(2, 6, 8), DecoderCache(1).layers[0].self_attn
    whole = attention(x, x, x, Mask(causal=True))
    steps = [attention(part, part, part, Mask(causal=True), cache) for part in x.split((3, 1, 2), 1)]
    torch.testing.assert_close(torch.cat(steps, 1), whole, atol=1e-6, rtol=1e-5)
