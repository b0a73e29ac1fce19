import pytest
import torch

from sublayer.errors import ConfigError
from sublayer.nn import Alibi, RelativeBias

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "heads, slopes",
    [
        (1, [1 / 256]),
        (2, [1 / 16, 1 / 256]),
        (8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]),
        (3, [1 / 16, 1 / 256, 1 / 4]),
        (6, [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]),
    ],
)
def test_alibi_slopes(heads, slopes):
    assert Alibi(heads).slopes() == pytest.approx(slopes)


def test_alibi_is_minus_slope_times_distance():
    bias = Alibi(2)(2, 4, CPU)
    assert bias.shape == (1, 2, 2, 4)
    assert bias[0, 0].tolist() == [[-2 / 16, -1 / 16, 0, -1 / 16], [-3 / 16, -2 / 16, -1 / 16, 0]]
    torch.testing.assert_close(bias[0, 1] * 16, bias[0, 0])


def test_relative_bias_is_a_row_of_the_table_a_bucket():
    relative = RelativeBias(3)
    bias = relative(4, 6, CPU)
    assert bias.shape == (1, 3, 4, 6)
    for t in range(4):
        for s in range(6):
            distance = torch.tensor(s - (t + 2))
            assert bias[0, :, t, s].equal(relative.table.weight[relative.bucket(distance)])


def test_buckets_by_hand():
    """32 buckets, 128 far: 8 exact distances a side, then 8 that grow by 2 every 2 buckets."""
    both = RelativeBias(1)
    distances = torch.tensor([0, -1, -7, -8, -12, -16, -32, -64, -127, -128, -9999, 1, 7, 8, 128])
    assert both.bucket(distances).tolist() == [0, 1, 7, 8, 9, 10, 12, 14, 15, 15, 15, 17, 23, 24, 31]
    past = RelativeBias(1, bidirectional=False)
    distances = torch.tensor([5, 0, -1, -15, -16, -128])
    assert past.bucket(distances).tolist() == [0, 0, 1, 15, 16, 31]


@pytest.mark.parametrize("buckets, far", [(3, 128), (33, 128), (2, 128), (32, 16)])
def test_impossible_buckets_name_the_cure(buckets, far):
    words = rf"buckets={buckets} and max_distance={far}: choose an even number of buckets, 4 or more"
    with pytest.raises(ConfigError, match=words):
        RelativeBias(2, buckets=buckets, max_distance=far)
