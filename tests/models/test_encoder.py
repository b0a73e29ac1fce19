import torch

from sublayer.nn import Mask


def test_it_is_the_encoder_of_the_embeddings(tiny):
    model, ids = tiny("encoder"), torch.randint(13, (2, 5))
    torch.testing.assert_close(model(ids), model.encoder(model.embed(ids)))


def test_a_tensor_or_a_mask_of_what_is_real(tiny, ragged):
    model, ids, keep = tiny("encoder"), torch.randint(13, (2, 5)), ragged([5, 3])
    assert model(ids, keep).equal(model(ids, Mask.padding(keep)))
    assert not model(ids, keep)[1, :3].allclose(model(ids)[1, :3], atol=1e-3)


def test_padding_on_the_left_is_padding_on_the_right(tiny, ragged, position):
    model, text = tiny("encoder", position=position), torch.randint(13, (1, 3))
    pad = torch.zeros(1, 2, dtype=torch.long)
    right = model(torch.cat((text, pad), 1), ragged([3, 5])[:1])[:, :3]
    left = model(torch.cat((pad, text), 1), ragged([3, 5], left=True)[:1])[:, 2:]
    torch.testing.assert_close(left, right, atol=1e-5, rtol=0)


def test_packed_texts_are_the_texts_alone(tiny, position):
    model, one, two = tiny("encoder", position=position), torch.randint(13, (1, 3)), torch.randint(13, (1, 4))
    packed = model(torch.cat((one, two), 1), Mask(documents=torch.tensor([[0, 0, 0, 1, 1, 1, 1]])))
    torch.testing.assert_close(packed, torch.cat((model(one), model(two)), 1), atol=1e-5, rtol=0)
