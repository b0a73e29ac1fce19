"""eval() switches to other kernels: output shrinks, values change."""

import torch

from sublayer.nn import Encoder, EncoderLayer, FeedForward, LayerNorm, MultiHeadAttention


def test_four_modes_one_result(perturb):
    def layer():
        return EncoderLayer(8, MultiHeadAttention(8, 2, dropout=0.0), FeedForward(8, 16, 0.0), 0.0)

    encoder = perturb(Encoder((layer() for _ in range(2)), LayerNorm(8)))
    x, keep = torch.randn(2, 6, 8), torch.tensor([[True] * 4 + [False] * 2] * 2)
    trained = encoder.train()(x, keep)
    encoder.eval()
    outputs = [encoder(x, keep)]
    with torch.no_grad():
        outputs.append(encoder(x, keep))
    with torch.inference_mode():
        outputs.append(encoder(x, keep))
    for output in outputs:
        assert output.shape == x.shape
        torch.testing.assert_close(output[keep], trained[keep], atol=1e-6, rtol=0)
