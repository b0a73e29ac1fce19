import torch

from sublayer.data.batch import PackedPairs, PairBatch, pad
from sublayer.train.report import places_of

PAD, BOS, EOS = 0, 2, 3


def batch_of(sources, targets, **changed):
    ids = dict(pad_ids=(PAD, PAD), bos=BOS, eos=(EOS, EOS)) | changed
    return PairBatch.of(sources, targets, **ids)


def test_rows_are_filled_up_on_the_right():
    filled, lengths = pad([[5], [6, 7, 8], []], 9)
    assert filled.tolist() == [[5, 9, 9], [6, 7, 8], [9, 9, 9]]
    assert lengths.tolist() == [1, 3, 0] and filled.dtype == lengths.dtype == torch.int64


def test_a_pair_batch_spelled_out():
    batch = batch_of([[5, 6], [7]], [[8], [9, 10]])
    assert batch.source.tolist() == [[5, 6, EOS], [7, EOS, PAD]]
    assert batch.source_keep.tolist() == [[True, True, True], [True, True, False]]
    assert batch.target.tolist() == [[BOS, 8, EOS, PAD], [BOS, 9, 10, EOS]]
    assert batch.target_in.tolist() == [[BOS, 8, EOS], [BOS, 9, 10]]
    assert batch.target_out.tolist() == [[8, EOS, PAD], [9, 10, EOS]]
    assert batch.target_keep.tolist() == [[True, True, False], [True, True, True]]
    assert (batch.tokens, batch.source_tokens) == (5, 5)
    assert places_of(batch) == (12, 10)
    assert places_of((PackedPairs.of([[5, 6], [7]], [[8], [9, 10]], bos=BOS, eos=(EOS, EOS)), "more")) == (10, 10)
    assert places_of(batch.source) == (0, 0)


def test_sources_of_one_length_need_no_mask():
    assert batch_of([[5, 6], [7, 8]], [[9], [9, 9]]).source_keep is None


def test_real_is_what_the_length_says_even_where_padding_stands_in_a_text():
    batch = batch_of([[PAD, 5], [6]], [[PAD], [EOS, 7]])
    assert batch.source_keep.tolist() == [[True, True, True], [True, True, False]]
    assert batch.target_keep.tolist() == [[True, True, False], [True, True, True]]
    assert batch.target_out[batch.target_keep].tolist() == [PAD, EOS, EOS, 7, EOS]
    assert batch.tokens == 5


def test_each_side_has_its_own_specials():
    batch = batch_of([[5], [5, 5]], [[6], []], pad_ids=(10, 11), bos=12, eos=(13, 14))
    assert batch.source.tolist() == [[5, 13, 10], [5, 5, 13]]
    assert batch.target.tolist() == [[12, 6, 14], [12, 14, 11]]


def test_all_of_it_moves():
    batch = batch_of([[5, 6], [7]], [[8], [9, 10]]).to(torch.device("meta"))
    moved = (batch.source, batch.source_keep, batch.target, batch.target_keep, batch.target_in, batch.target_out)
    assert {tensor.device.type for tensor in moved} == {"meta"}
    assert (batch.tokens, batch.source_tokens) == (5, 5)


def test_packed_pairs_spelled_out():
    batch = PackedPairs.of([[5, 6], [7], []], [[8], [], [9, 10]], bos=BOS, eos=(EOS, 4))
    assert batch.source.tolist() == [[5, 6, EOS, 7, EOS, EOS]]
    assert batch.target_in.tolist() == [[BOS, 8, BOS, BOS, 9, 10]]
    assert batch.target_out.tolist() == [[8, 4, 4, 9, 10, 4]]
    assert (batch.source_lengths, batch.target_lengths) == ([3, 2, 1], [2, 1, 3])
    assert (batch.tokens, batch.source_tokens) == (6, 6)


def test_both_kinds_of_batch_hold_the_same_labels():
    sources, targets = [[5, 6], [7], [PAD, 8]], [[8, PAD], [], [9]]
    padded, packed = batch_of(sources, targets), PackedPairs.of(sources, targets, bos=BOS, eos=(EOS, EOS))
    assert packed.labels.tolist() == padded.labels.tolist() == [8, PAD, EOS, EOS, 9, EOS]
    assert (packed.tokens, packed.source_tokens) == (padded.tokens, padded.source_tokens) == (6, 8)


def test_packed_pairs_move():
    batch = PackedPairs.of([[5]], [[6]], bos=BOS, eos=(EOS, EOS)).to(torch.device("meta"))
    assert {x.device.type for x in (batch.source, batch.target_in, batch.target_out)} == {"meta"}
    assert (batch.source_lengths, batch.tokens) == ([2], 2)
