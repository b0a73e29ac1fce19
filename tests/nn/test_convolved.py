import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.nn import ConvolvedLayer, EncoderLayer, FeedForward, Mask, MultiHeadAttention


def layer(perturb, **options):
    inner = EncoderLayer(8, MultiHeadAttention(8, 2, dropout=0.0), FeedForward(8, 12, 0.0), 0.0)
    return perturb(ConvolvedLayer(8, inner, 0.0, **options)).eval()


def test_it_is_the_layer_and_a_window_beside_it(perturb):
    made, x = layer(perturb, width=3), torch.randn(1, 5, 8)
    before, at, after = made.conv.weight.unbind(-1)
    beside = torch.stack(
        [
            made.conv.bias + at @ x[0, i] + (before @ x[0, i - 1] if i else 0) + (after @ x[0, i + 1] if i < 4 else 0)
            for i in range(5)
        ]
    )
    expected = made.norm(EncoderLayer.forward(made, x)[0] + beside.tanh())
    torch.testing.assert_close(made(x)[0], expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("options", [dict(width=3), dict(width=5, groups=2, activation="gelu")])
def test_texts_are_the_same_alone_padded_and_packed(options, perturb, ragged):
    made, lengths = layer(perturb, **options), (6, 1, 3)
    texts = [torch.randn(1, n, 8) for n in lengths]
    expected = torch.cat([made(text) for text in texts], 1)[0]
    for left in (False, True):
        x, keep = torch.full((3, 6, 8), 1e4), ragged(lengths, left=left)
        x[keep] = torch.cat(texts, 1)[0]
        torch.testing.assert_close(made(x, keep)[keep], expected, atol=1e-5, rtol=0)
    packed = made(torch.cat(texts, 1), Mask.packed(lengths))[0]
    torch.testing.assert_close(packed, expected, atol=1e-5, rtol=0)
    two = made(
        torch.cat(texts[:1] + [texts[1], texts[2], texts[0][:, :2]], 1).view(2, 6, 8),
        Mask(documents=torch.tensor([[0] * 6, [0, 1, 1, 1, 2, 2]])),
    )
    torch.testing.assert_close(two.flatten(0, 1)[:10], expected, atol=1e-5, rtol=0)


def test_impossible_windows_name_the_cure(perturb):
    for options in (dict(width=4), dict(groups=3)):
        with pytest.raises(ConfigError, match="is 1, 3, 5 … wide, and groups divide d_model=8"):
            layer(perturb, **options)
