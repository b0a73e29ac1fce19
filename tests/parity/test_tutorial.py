"""A Transformer written out as tutorials do, and ours with its weights."""

import math

import pytest
import torch
from torch import nn

from sublayer.errors import CheckpointError, ShapeError
from sublayer.interop.rule import invert, load
from sublayer.interop.tutorial import TUTORIAL
from sublayer.models import Transformer
from sublayer.nn import Mask


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask):
        def heads(x):
            return x.reshape(*x.shape[:2], self.num_heads, -1).permute(0, 2, 1, 3)

        q, k, v = heads(self.w_q(query)), heads(self.w_k(key)), heads(self.w_v(value))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        weights = scores.masked_fill(mask == 0, -1e9).softmax(-1)
        return self.w_o((weights @ v).permute(0, 2, 1, 3).flatten(2))


class PositionWise(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))


class Layer(nn.Module):
    """Encoder layer, and decoder layer where there is a memory to read."""

    def __init__(self, d_model, num_heads, d_ff, decoder):
        super().__init__()
        self.self_attn = Attention(d_model, num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        if decoder:
            self.cross_attn, self.norm3 = Attention(d_model, num_heads), nn.LayerNorm(d_model)
        self.feed_forward = PositionWise(d_model, d_ff)

    def forward(self, x, mask, memory=None, cross_mask=None):
        x = self.norm1(x + self.self_attn(x, x, x, mask))
        if memory is None:
            return self.norm2(x + self.feed_forward(x))
        x = self.norm2(x + self.cross_attn(x, memory, memory, cross_mask))
        return self.norm3(x + self.feed_forward(x))


class Positions(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        angle = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        table = torch.stack((angle.sin(), angle.cos()), -1).reshape(max_len, 1, d_model)
        self.register_buffer("pe", table)


class Stack(nn.Module):
    def __init__(self, vocab, d_model, num_layers, num_heads, d_ff, max_len, decoder):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.pos_encoding = Positions(d_model, max_len)
        self.layers = nn.ModuleList(Layer(d_model, num_heads, d_ff, decoder) for _ in range(num_layers))

    def forward(self, ids, *given):
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        x = x + self.pos_encoding.pe[: ids.shape[1], 0]
        for layer in self.layers:
            x = layer(x, *given)
        return x


class Written(nn.Module):
    def __init__(self, source, target, d_model=512, num_layers=10, num_heads=8, d_ff=2048, max_len=5000):
        super().__init__()
        sizes = d_model, num_layers, num_heads, d_ff, max_len
        self.encoder = Stack(source, *sizes, decoder=False)
        self.decoder = Stack(target, *sizes, decoder=True)
        self.fc_out = nn.Linear(d_model, target)

    def forward(self, src, trg, src_mask, trg_mask, cross_mask):
        return self.fc_out(self.decoder(trg, trg_mask, self.encoder(src, src_mask), cross_mask))


SMALL = dict(d_model=16, num_layers=3, num_heads=4, d_ff=24, max_len=40)


@pytest.fixture
def both(perturb):
    def both(source=13, target=11, **sizes):
        theirs = perturb(Written(source, target, **sizes))
        ours = Transformer(source, target, **sizes, dropout=0.0)
        load(ours, TUTORIAL, theirs.state_dict())
        return ours, theirs

    return both


@pytest.fixture
def batch(ragged):
    src, trg = torch.randint(13, (3, 7)), torch.randint(11, (3, 5))
    real, written = ragged([7, 4, 2]), ragged([3, 5, 1])
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    masks = real[:, None, None], written[:, None, None] & causal, real[:, None, None].expand(3, 1, 5, 7)
    return src, trg, masks, written


@pytest.mark.parametrize("train", [True, False], ids=["train", "eval"])
def test_values_and_gradients(both, batch, train):
    (ours, theirs), (src, trg, masks, written) = both(**SMALL), batch
    actual, expected = ours.train(train)(src, trg, *masks), theirs.train(train)(src, trg, *masks)
    torch.testing.assert_close(actual[written], expected[written], atol=1e-5, rtol=1e-5)
    actual[written].square().sum().backward()
    expected[written].square().sum().backward()
    gradients = invert(TUTORIAL, {name: p.grad for name, p in ours.named_parameters()})
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad, atol=1e-3, rtol=1e-4, msg=name)


def test_a_mask_says_the_same_in_fewer_words(both, batch):
    (ours, _), (src, trg, masks, written) = both(**SMALL), batch
    expected = ours.eval()(src, trg, *masks)
    for short in ((masks[0][:, 0, 0], written), (Mask.padding(masks[0][:, 0, 0]), Mask.padding(written))):
        torch.testing.assert_close(ours(src, trg, *short)[written], expected[written], atol=1e-5, rtol=1e-5)


def test_the_tutorials_call():
    sizes = dict(d_model=512, num_layers=1, num_heads=8, d_ff=2048, max_len=100)
    ours, theirs = Transformer(5000, 5000, **sizes), Written(5000, 5000, **sizes)
    load(ours, TUTORIAL, theirs.state_dict())
    src, trg = torch.randint(5000, (32, 20)), torch.randint(5000, (32, 25))
    masks = [torch.ones(32, 1, *shape, dtype=torch.bool) for shape in ((1, 20), (25, 25), (25, 20))]
    with torch.inference_mode():
        actual, expected = ours.eval()(src, trg, *masks), theirs(src, trg, *masks)
    assert actual.shape == (32, 25, 5000)
    torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-5)


def test_masks_of_floats_0_and_1_are_refused(both, batch):
    (ours, _), (src, trg, masks, _) = both(**SMALL), batch
    for i in range(3):
        given = list(masks)
        given[i] = masks[i].float()
        with pytest.raises(ShapeError, match=r"holding only 0 and 1: .*Write mask\.bool\(\) if 1 means 'may be seen'"):
            ours(src, trg, *given)


def test_there_and_back_to_the_bit(both):
    ours, theirs = both(**SMALL)
    state, back = theirs.state_dict(), invert(TUTORIAL, ours.state_dict())
    assert state.keys() - back.keys() == {"encoder.pos_encoding.pe", "decoder.pos_encoding.pe"}
    assert all(back[name].equal(state[name]) for name in back)


def test_what_does_not_fit_is_told_in_the_names_of_the_tutorial():
    theirs = Written(13, 11, **SMALL).state_dict()
    theirs["encoder.layers.0.self_attn.w_query.weight"] = theirs.pop("encoder.layers.0.self_attn.w_q.weight")
    with pytest.raises(CheckpointError) as caught:
        load(Transformer(13, 12, **SMALL), TUTORIAL, theirs, "transformer.pt")
    assert str(caught.value).splitlines() == [
        "transformer.pt does not fit the model:",
        "  - missing: encoder.layers.0.self_attn.w_q.weight (16, 16)",
        "  - not used: encoder.layers.0.self_attn.w_query.weight (16, 16)",
        "  - shape: decoder.embedding.weight is (11, 16), expected (12, 16)",
        "  - shape: fc_out.weight is (11, 16), expected (12, 16)",
        "  - shape: fc_out.bias is (11,), expected (12,)",
    ]
