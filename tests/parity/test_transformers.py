"""Positions against those of transformers."""

import pytest
import torch

from sublayer.nn import RelativeBias, Rotary, Sinusoidal


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("buckets, far", [(32, 128), (16, 40), (8, 20)])
def test_buckets_of_t5(bidirectional, buckets, far):
    from transformers.models.t5.modeling_t5 import T5Attention

    distance = torch.arange(-300, 301)
    expected = T5Attention._relative_position_bucket(distance, bidirectional, buckets, far)
    ours = RelativeBias(1, buckets=buckets, max_distance=far, bidirectional=bidirectional)
    assert ours.bucket(distance).equal(expected)


def test_rotary_of_llama():
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    q, k = torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 8)
    angles = torch.arange(7)[:, None] * 10000.0 ** (-torch.arange(0, 8, 2) / 8)
    both = torch.cat((angles, angles), -1)[None]
    expected = apply_rotary_pos_emb(q, k, both.cos(), both.sin())
    rotary = Rotary(8)
    torch.testing.assert_close((rotary(q), rotary(k)), expected, atol=1e-5, rtol=1e-5)


def test_sinusoids_of_marian():
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    theirs = MarianSinusoidalPositionalEmbedding(50, 12)
    theirs.weight.data = theirs.create_weight()
    ours = Sinusoidal(12, layout="halves")(torch.arange(50), 50)
    torch.testing.assert_close(ours, theirs(torch.Size((1, 50))), atol=1e-5, rtol=1e-5)
