import math

import pytest
import torch

from sublayer.nn import (
    BagEmbeddings,
    Embeddings,
    FeatureEmbeddings,
    LayerNorm,
    Learned,
    ProjectedEmbeddings,
    Sinusoidal,
)


def test_token_vectors_are_scaled_by_the_root_of_the_width():
    embed, ids = Embeddings(7, 16, dropout=0.0), torch.tensor([[1, 2], [3, 3]])
    torch.testing.assert_close(embed(ids), math.sqrt(16) * embed.tokens.weight[ids])
    embed = Embeddings(7, 16, scale=1.0, dropout=0.0)
    torch.testing.assert_close(embed(ids), embed.tokens.weight[ids])


def test_the_whole_formula():
    embed = Embeddings(7, 4, positions=Learned(9, 4), token_types=2, norm=LayerNorm(4), dropout=0.0)
    ids, types = torch.tensor([[1, 2, 6]]), torch.tensor([[0, 1, 1]])
    x = 2 * embed.tokens.weight[ids] + embed.types.weight[types] + embed.positions.table.weight[:3]
    torch.testing.assert_close(embed(ids, types=types), embed.norm(x))
    torch.testing.assert_close(embed(ids), embed(ids, types=torch.zeros_like(ids)))


def test_positions_start_where_they_are_told():
    embed, ids = Embeddings(7, 4, positions=Sinusoidal(4), dropout=0.0), torch.randint(7, (2, 6))
    whole = embed(ids)
    torch.testing.assert_close(embed(ids[:, 4:], start=4), whole[:, 4:])
    index = torch.tensor([[5, 4, 3, 2, 1, 0]])
    torch.testing.assert_close(embed(ids.flip(1), index=index).flip(1), whole)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_positions_take_the_type_of_the_tokens(dtype):
    embed = Embeddings(7, 4, positions=Sinusoidal(4)).to(dtype)
    assert embed(torch.tensor([[1, 2]])).dtype == dtype


def test_dropout_only_while_training():
    embed, ids = Embeddings(7, 16, dropout=0.5), torch.tensor([[1, 2]])
    assert not embed(ids).equal(embed(ids))
    embed.eval()
    assert embed(ids).equal(embed(ids))


def test_features_have_no_position_and_characters_are_counted_without_them():
    embed = FeatureEmbeddings(10, 4, first_feature=7, positions=Sinusoidal(4), dropout=0.0)
    plain = Embeddings(10, 4, positions=Sinusoidal(4), dropout=0.0)
    plain.tokens = embed.tokens
    x = embed(torch.tensor([[8, 1, 9, 2, 3]]))
    torch.testing.assert_close(x[:, [1, 3, 4]], plain(torch.tensor([[1, 2, 3]])))


def test_features_are_one_bundle():
    embed = FeatureEmbeddings(10, 4, first_feature=7, positions=Sinusoidal(4), dropout=0.0)
    x = embed(torch.tensor([[8, 1, 9, 2, 3], [9, 1, 8, 2, 3], [7, 1, 2, 3, 0], [1, 2, 3, 0, 0]]))
    bundle = 2 * (embed.tokens.weight[8] + embed.tokens.weight[9]) / 2**0.5
    torch.testing.assert_close(x[:2, [0, 2]], bundle.expand(2, 2, 4))
    torch.testing.assert_close(x[2, 0], 2 * embed.tokens.weight[7])
    torch.testing.assert_close(x[3, :3], x[0, [1, 3, 4]])


def test_features_in_packed_and_left_padded_rows():
    """Each text is counted from where it begins, its features left out."""
    embed = FeatureEmbeddings(10, 4, first_feature=7, positions=Sinusoidal(4), dropout=0.0)
    texts = [[8, 1, 2, 9], [3], [7, 7], [4, 9, 5, 6]]
    alone = torch.cat([embed(torch.tensor([text])) for text in texts], 1)
    packed = embed(torch.tensor([sum(texts, [])]), index=torch.tensor([[0, 1, 2, 3, 0, 0, 1, 0, 1, 2, 3]]))
    torch.testing.assert_close(packed, alone)
    left = embed(
        torch.tensor([[0, 0, *texts[0]], [3, *texts[3], 9]]),
        index=torch.tensor([[0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5]]),
    )
    torch.testing.assert_close(left[:1, 2:], alone[:, :4])
    torch.testing.assert_close(left[1:], embed(torch.tensor([[3, *texts[3], 9]])))


def test_vectors_of_another_width_are_widened_after_the_norm():
    embed = ProjectedEmbeddings(7, 4, d_model=6, positions=Learned(9, 4), norm=LayerNorm(4), dropout=0.0)
    ids = torch.tensor([[1, 2, 6]])
    x = embed.norm(2 * embed.tokens.weight[ids] + embed.positions.table.weight[:3])
    torch.testing.assert_close(embed(ids), x @ embed.widen.weight.T + embed.widen.bias)
    assert embed(ids).shape == (1, 3, 6)


def test_a_bag_is_its_word_and_the_mean_of_its_ngrams():
    embed = BagEmbeddings(9, 4, dropout=0.0)
    word, one, two = embed.tokens.weight[[5, 6, 8]]
    got = embed(torch.tensor([[[5, 6, 8], [5, 0, 0], [5, 6, 0]]]))
    expected = 2 * torch.stack([word + (one + two) / 2, word, word + one])[None]  # √4 · …
    torch.testing.assert_close(got, expected)


def test_the_place_of_a_bag_is_added_and_no_ngrams_are_none():
    positions = Sinusoidal(4)
    embed = BagEmbeddings(9, 4, positions=positions, dropout=0.0)
    got = embed(torch.tensor([[[5], [6]]]), start=3)
    torch.testing.assert_close(got[0], 2 * embed.tokens.weight[[5, 6]] + positions(torch.tensor([3, 4]), 5))
    both = embed(torch.tensor([[[5], [5]]]), index=torch.tensor([[7, 0]]))
    torch.testing.assert_close(
        both[0, 0] - both[0, 1], positions(torch.tensor([7]), 8)[0] - positions(torch.tensor([0]), 1)[0]
    )
