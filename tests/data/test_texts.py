import torch

from sublayer.data.texts import TextBatch


def test_padded_texts_and_their_mask():
    batch = TextBatch.of([[5, 6, 7], [8]], pad=0)
    assert batch.ids.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert batch.mask.keep[:, 0, 0].tolist() == [[True] * 3, [True, False, False]]
    assert (batch.lengths, batch.tokens) == ([3, 1], 4)


def test_equally_long_texts_need_no_mask():
    assert TextBatch.of([[5, 6], [7, 8]], pad=0).mask is None


def test_packed_texts_stand_end_to_end():
    batch = TextBatch.of([[5, 6, 7], [8]], pad=0, packed=True)
    assert batch.ids.tolist() == [[5, 6, 7, 8]]
    assert batch.mask.documents.tolist() == [[0, 0, 0, 1]]


def test_bags_are_filled_up_with_zeros():
    texts = [[[5, 9], [6]], [[7, 8, 9]]]
    padded = [[[5, 9, 0], [6, 0, 0]], [[7, 8, 9], [1, 0, 0]]]
    assert TextBatch.of(texts, pad=1).ids.tolist() == padded
    assert TextBatch.of(texts, pad=1, packed=True).ids.tolist() == [[[5, 9, 0], [6, 0, 0], [7, 8, 9]]]


def test_it_moves_whole():
    batch = TextBatch.of([[5, 6, 7], [8]], pad=0).to(torch.device("meta"))
    assert batch.ids.device.type == batch.mask.keep.device.type == "meta"
