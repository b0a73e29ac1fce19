import math

import pytest
import torch
from torch import nn

from sublayer.errors import ConfigError, ShapeError
from sublayer.nn import (
    DisentangledAttention,
    DisentangledEncoder,
    Eager,
    EncoderLayer,
    FeedForward,
    Fused,
    Local,
    Mask,
    RelativePositions,
)


@pytest.fixture
def encoder(perturb):
    """encoder(kernel=…, buckets=…) of two layers, 16 wide, with 4 heads."""

    def encoder(*, buckets=None, kernel=None, dropout=0.0, **options):
        def layer():
            attend = DisentangledAttention(16, 4, dropout=dropout, kernel=kernel, **options)
            return EncoderLayer(16, attend, FeedForward(16, 24, dropout), dropout)

        positions = RelativePositions(16, 5, buckets=buckets, norm=nn.LayerNorm(16), dropout=dropout)
        return perturb(DisentangledEncoder((layer() for _ in range(2)), positions=positions)).eval()

    return encoder


def by_hand(attend, x, table):
    """Equation 4 of the paper, a pair at a time; table (2k, D)."""
    k, heads, width = len(table) // 2, attend.num_heads, attend.d_k
    q, key, v = (m(x).unflatten(-1, (heads, width)) for m in (attend.q_proj, attend.k_proj, attend.v_proj))
    own = (attend.k_proj, attend.q_proj) if attend.shared else (attend.k_relative, attend.q_relative)
    k_r, q_r = (None if m is None else m(table).unflatten(-1, (heads, width)) for m in own)
    output = torch.zeros(len(x), heads, width)
    for h in range(heads):
        scores = torch.empty(len(x), len(x))
        for i in range(len(x)):
            for j in range(len(x)):
                row = min(max(i - j + k, 0), 2 * k - 1)
                score = q[i, h] @ key[j, h]
                score = score + (q[i, h] @ k_r[row, h] if "c2p" in attend.terms else 0)
                score = score + (key[j, h] @ q_r[row, h] if "p2c" in attend.terms else 0)
                scores[i, j] = score / math.sqrt(width * (1 + len(attend.terms)))
        output[:, h] = scores.softmax(-1) @ v[:, h]
    return attend.out_proj(output.flatten(1))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("terms", [("c2p", "p2c"), ("c2p",), ("p2c",)])
def test_scores_by_hand(terms, shared, perturb):
    attend = perturb(DisentangledAttention(8, 2, terms=terms, shared=shared, key_bias=False)).eval()
    positions, x = perturb(RelativePositions(8, 3)).eval(), torch.randn(1, 7, 8)
    made = attend(x, x, x, positions(x, None))
    torch.testing.assert_close(made[0], by_hand(attend, x[0], positions.table.weight), atol=1e-5, rtol=1e-5)


def test_buckets_by_hand():
    """8 buckets up to 100: below 4 exact, then ceilings of 4 + 3 · log(d / 4) / log(99 / 4)."""
    distances = torch.tensor([0, 1, -3, 4, 5, -11, 12, 34, 35, -99, 5000])
    assert RelativePositions(4, 100, buckets=8).bucket(distances).tolist() == [0, 1, -3, 4, 5, -5, 6, 7, 7, -7, 11]


def test_no_more_of_the_table_is_mapped_than_the_distances_reach():
    positions = RelativePositions(8, 512, buckets=256).eval()
    said = positions(torch.randn(2, 6, 8), None)
    assert said.table.shape == (12, 8) and said.table.equal(positions.table.weight[250:262])
    assert said.index[0].tolist() == [6, 5, 4, 3, 2, 1] and said.index[:, 0].tolist() == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("kernel", [Eager(), Fused(), Local(20)], ids=["eager", "fused", "local"])
@pytest.mark.parametrize("buckets", [None, 4])
@pytest.mark.parametrize("train", [True, False])
def test_texts_are_the_same_alone_padded_and_packed(kernel, buckets, train, encoder, ragged):
    model, lengths = encoder(kernel=kernel, buckets=buckets).train(train), (9, 4, 4, 1)
    texts = [torch.randn(1, n, 16) for n in lengths]
    x, keep = torch.zeros(4, 9, 16), ragged(lengths)
    x[keep] = torch.cat(texts, 1)[0]
    outputs = [torch.cat([model(text) for text in texts], 1)[0], model(x, keep)[keep]]
    outputs.append(model(torch.cat(texts, 1), Mask.packed(lengths))[0])
    gradients = []
    for output in outputs:
        model.zero_grad()
        output.square().sum().backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters()})
    for output, gradient in zip(outputs[1:], gradients[1:], strict=True):
        torch.testing.assert_close(output, outputs[0], atol=1e-5, rtol=0)
        for name, values in gradient.items():
            torch.testing.assert_close(values, gradients[0][name], atol=1e-3, rtol=1e-4, msg=name)


def test_several_packed_rows(encoder):
    model, x = encoder(), torch.randn(2, 6, 16)
    packed = model(x, Mask(documents=torch.tensor([[0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1]])))
    for row, pieces in enumerate(([2, 3, 1], [2, 4])):
        alone = [model(piece) for piece in x[row : row + 1].split(pieces, 1)]
        torch.testing.assert_close(packed[row], torch.cat(alone, 1)[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype, atol", [(torch.float16, 1e-2), (torch.bfloat16, 5e-2)])
def test_half_precision_and_a_row_of_padding(dtype, atol, encoder, ragged):
    model, x, keep = encoder(buckets=4), torch.randn(3, 6, 16), ragged((6, 3, 0))
    expected = model(x, keep)
    assert expected.isfinite().all()
    made = model.to(dtype)(x.to(dtype), keep)
    assert made.dtype == dtype and made.isfinite().all()
    error = (made.float() - expected)[keep].abs().max()
    assert error < atol * expected.abs().max()


def test_a_dead_row_gives_zeros_and_padding_reaches_nothing(perturb):
    attend, positions = perturb(DisentangledAttention(16, 4, dropout=0.0)), perturb(RelativePositions(16, 5)).eval()
    x, keep = torch.randn(2, 4, 16, requires_grad=True), torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0]]).bool()
    dirty = x.masked_fill(~keep[..., None], float("nan"))
    mask = positions(x, Mask.padding(keep))
    assert attend(x, x, x, mask)[1].equal(attend.out_proj.bias.expand(4, 16))
    said = attend(x, x, x, mask)[keep]
    torch.testing.assert_close(attend(dirty, dirty, dirty, mask)[keep], said)
    said.square().sum().backward()
    assert x.grad.isfinite().all() and all(p.grad.isfinite().all() for p in attend.parameters())


def test_training_drops_vectors_of_distances(encoder):
    model, x = encoder(dropout=0.5).train(), torch.randn(1, 5, 16)
    assert not model.positions(x, None).table.equal(model.positions(x, None).table)


def test_without_its_stack_it_says_what_to_write():
    attend, x = DisentangledAttention(16, 4), torch.randn(1, 3, 16)
    with pytest.raises(ShapeError, match=r"in a DisentangledEncoder\(layers, positions=RelativePositions\(d_model\)\)"):
        attend(x, x, x)


def test_impossible_settings_name_the_cure():
    for terms in ((), ("c2p", "p2p")):
        with pytest.raises(ConfigError, match="has the terms c2p and p2c, one or both"):
            DisentangledAttention(16, 4, terms=terms)
    with pytest.raises(ConfigError, match="keys and values for each of its 4 heads"):
        DisentangledAttention(16, 4, num_kv_heads=2)
    with pytest.raises(ConfigError, match="choose 4 buckets or more and a max_distance well above half of them"):
        RelativePositions(16, 8, buckets=16)
