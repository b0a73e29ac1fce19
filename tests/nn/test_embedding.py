import math

import pytest
import torch

from sublayer.nn import Embeddings, FeatureEmbeddings, LayerNorm, Learned, Sinusoidal


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
    torch.testing.assert_close(x[:, [0, 2]], 2 * embed.tokens.weight[[8, 9]][None])


def test_features_are_a_set():
    embed = FeatureEmbeddings(10, 4, first_feature=7, positions=Sinusoidal(4), dropout=0.0)
    one, other = embed(torch.tensor([[8, 9, 1, 2]])), embed(torch.tensor([[9, 8, 1, 2]]))
    torch.testing.assert_close(one[:, [1, 0, 2, 3]], other)


def test_features_in_packed_and_left_padded_rows():
    """Each text is counted from where it begins, its features left out."""
    embed = FeatureEmbeddings(10, 4, first_feature=7, positions=Sinusoidal(4), dropout=0.0)
    texts = [[8, 1, 2, 9], [3], [7, 7], [4, 9, 5, 6]]
    alone = torch.cat([embed(torch.tensor([text])) for text in texts], 1)
    packed = embed(torch.tensor([sum(texts, [])]), index=torch.tensor([[0, 1, 2, 3, 0, 0, 1, 0, 1, 2, 3]]))
    assert packed.equal(alone)
    left = embed(
        torch.tensor([[0, 0, *texts[0]], [3, *texts[3], 9]]),
        index=torch.tensor([[0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5]]),
    )
    assert left[:1, 2:].equal(alone[:, :4]) and left[1:].equal(embed(torch.tensor([[3, *texts[3], 9]])))
