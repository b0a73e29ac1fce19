import torch

from sublayer.data.texts import TextBatch


def test_padded_texts_and_their_mask():
    batch = TextBatch.of([[5, 6, 7], [8]], pad=0)
    assert batch.ids.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert batch.mask.keep[:, 0, 0].tolist() == [[True] * 3, [True, False, False]]
    assert (batch.lengths, batch.tokens) == ([3, 1], 4)
    assert (batch.places, batch.filled) == (6, 4)


def test_equally_long_texts_need_no_mask():
    assert TextBatch.of([[5, 6], [7, 8]], pad=0).mask is None


def test_packed_texts_stand_end_to_end():
    batch = TextBatch.of([[5, 6, 7], [8]], pad=0, packed=True)
    assert batch.ids.tolist() == [[5, 6, 7, 8]] and batch.places == batch.filled == 4
    assert batch.mask.documents.tolist() == [[0, 0, 0, 1]]


def test_bags_are_filled_up_with_zeros():
    texts = [[[5, 9], [6]], [[7, 8, 9]]]
    padded = [[[5, 9, 0], [6, 0, 0]], [[7, 8, 9], [1, 0, 0]]]
    assert TextBatch.of(texts, pad=1).ids.tolist() == padded
    assert TextBatch.of(texts, pad=1, packed=True).ids.tolist() == [[[5, 9, 0], [6, 0, 0], [7, 8, 9]]]


def test_segments_stand_as_the_ids_do():
    texts, types = [[5, 6, 7], [8]], [[0, 1, 1], [0]]
    padded = TextBatch.of(texts, pad=9, types=types)
    assert padded.types.tolist() == [[0, 1, 1], [0, 0, 0]] and padded.ids[1].tolist() == [8, 9, 9]
    packed = TextBatch.of(texts, pad=9, types=types, packed=True)
    assert packed.types.tolist() == [[0, 1, 1, 0]] and packed.inputs[2] is packed.types


def test_it_moves_whole():
    batch = TextBatch.of([[5, 6, 7], [8]], pad=0).to(torch.device("meta"))
    assert batch.ids.device.type == batch.mask.keep.device.type == "meta"
