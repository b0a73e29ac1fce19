import pytest
import torch

from sublayer.nn import GEGLU, FeedForward, Mask, MultiHeadAttention, Rotary


@pytest.mark.parametrize("norm_first", [True, False])
def test_without_positions_the_encoder_is_permutation_equivariant(tiny, ragged, norm_first):
    model, keep = tiny("encoder", position="none", norm_first=norm_first), ragged([6, 4])
    ids, order = torch.randint(13, (2, 6)), torch.randperm(6)
    permuted = model(ids[:, order], keep[:, order])
    torch.testing.assert_close(permuted, model(ids, keep)[:, order], atol=1e-5, rtol=0)


def test_with_positions_it_is_not(tiny, position):
    if position == "none":
        pytest.skip("the law above")
    model, ids = tiny("encoder", position=position), torch.tensor([[1, 2, 3, 4, 5, 6]])
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    assert not model(ids[:, order]).allclose(model(ids)[:, order], atol=1e-3)


def test_memory_is_a_set_to_cross_attention(perturb):
    attend, order = perturb(MultiHeadAttention(16, 4)).eval(), torch.randperm(7)
    query, memory, keep = torch.randn(2, 3, 16), torch.randn(2, 7, 16), torch.rand(2, 7) < 0.7
    permuted = attend(query, memory[:, order], memory[:, order], keep[:, order])
    torch.testing.assert_close(permuted, attend(query, memory, memory, keep), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("make", [FeedForward, GEGLU])
@pytest.mark.parametrize("train", [True, False])
def test_the_feed_forward_network_mixes_no_positions(make, train):
    ffn, x = make(8, 16, 0.0).train(train), torch.randn(2, 5, 8)
    expected = torch.stack([ffn(x[:, t : t + 1])[:, 0] for t in range(5)], 1)
    torch.testing.assert_close(ffn(x), expected)
    x.requires_grad_()
    ffn(x)[:, 2].sum().backward()
    assert x.grad[:, [0, 1, 3, 4]].eq(0).all()


@pytest.mark.parametrize("kind", ["rotary", "relative", "alibi", "none"])
def test_only_distances_matter(tiny, kind):
    """The same text further right, behind a key that nobody sees, gives the same."""
    model, ids = tiny("decoder", position=kind), torch.randint(11, (1, 5))
    keep = torch.tensor([[False] * 4 + [True] * 5])
    shifted = model(torch.cat((torch.zeros(1, 4, dtype=torch.long), ids), 1), keep)
    torch.testing.assert_close(shifted[:, 4:], model(ids), atol=1e-5, rtol=0)


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_attention_with_rotary_depends_on_distance_only(layout, perturb):
    attend = perturb(MultiHeadAttention(16, 2, rotate=Rotary(8, layout=layout))).eval()
    x = torch.randn(1, 9, 16)
    part = x[:, 4:]
    documents = Mask(documents=torch.tensor([[0] * 4 + [1] * 5]))
    torch.testing.assert_close(attend(x, x, x, documents)[:, 4:], attend(part, part, part), atol=1e-5, rtol=0)
    swapped = part[:, [1, 0, 2, 3, 4]]
    assert not attend(swapped, swapped, swapped)[:, 4].allclose(attend(part, part, part)[:, 4], atol=1e-3)
