"""Texts in one row without padding are the texts in a padded batch: values and gradients."""

import pytest
import torch

from sublayer.errors import ShapeError
from sublayer.nn import Mask

LENGTHS = {"mixed": [7, 1, 4, 4, 1], "equal": [3, 3, 3], "one": [5], "singles": [1, 1]}
TARGETS = {"mixed": [2, 6, 1, 1, 3], "equal": [2, 2, 2], "one": [4], "singles": [3, 1]}
lengths = pytest.mark.parametrize("case", LENGTHS)
norms = pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
trained = pytest.mark.parametrize("train", [True, False], ids=["train", "eval"])


def together(ids, keep):
    """(1, N): what is real, row after row."""
    return ids[keep][None]


def check(model, packed, padded):
    """Equal outputs, and equal gradients of all parameters."""
    torch.testing.assert_close(packed, padded, atol=1e-5, rtol=0)
    weight = torch.randn(packed.shape)
    gradients = []
    for output in (packed, padded):
        model.zero_grad()
        (output * weight).sum().backward()
        gradients.append({name: p.grad for name, p in model.named_parameters()})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], atol=1e-5, rtol=1e-4, msg=name)


@lengths
@norms
@trained
def test_encoder(case, norm_first, train, tiny, position, ragged):
    model = tiny("encoder", position=position, norm_first=norm_first, dropout=0.0).train(train)
    keep = ragged(LENGTHS[case])
    ids = torch.randint(13, keep.shape)
    packed = model(together(ids, keep), Mask.packed(LENGTHS[case]))
    check(model, packed[0], model(ids, keep)[keep])


@lengths
@norms
@trained
def test_encoder_decoder(case, norm_first, train, tiny, position, ragged):
    model = tiny(position=position, norm_first=norm_first, dropout=0.0).train(train)
    source, target = ragged(LENGTHS[case]), ragged(TARGETS[case])
    src, trg = torch.randint(13, source.shape), torch.randint(11, target.shape)
    masks = Mask.packed(LENGTHS[case]), Mask.packed(TARGETS[case])
    packed = model(together(src, source), together(trg, target), *masks)
    check(model, packed[0], model(src, trg, source, target)[target])


@lengths
@trained
@pytest.mark.parametrize("groups", [4, 2])
def test_language_model(case, train, groups, tiny, position, ragged):
    model = tiny("decoder", position=position, num_kv_heads=groups, dropout=0.0).train(train)
    keep = ragged(LENGTHS[case])
    ids = torch.randint(11, keep.shape)
    packed = model(together(ids, keep), Mask.packed(LENGTHS[case]))
    check(model, packed[0], model(ids, keep)[keep])


@pytest.mark.parametrize("kernel", ["eager", "fused"])
def test_with_either_kernel_and_in_inference_form(kernel, tiny, position, ragged):
    model = tiny(position=position, kernel=kernel)
    source, target = ragged(LENGTHS["mixed"]), ragged(TARGETS["mixed"])
    src, trg = torch.randint(13, source.shape), torch.randint(11, target.shape)
    masks = Mask.packed(LENGTHS["mixed"]), Mask.packed(TARGETS["mixed"])
    expected = model(src, trg, source, target)[target]
    for form in (model, model.for_inference()):
        packed = form(together(src, source), together(trg, target), *masks)[0]
        torch.testing.assert_close(packed, expected, atol=1e-5, rtol=0)


def test_features_among_the_source(tiny, ragged):
    model, keep = tiny(first_feature=9), ragged(LENGTHS["mixed"])
    target = ragged(TARGETS["mixed"])
    src, trg = torch.randint(13, keep.shape), torch.randint(11, target.shape)
    assert (src[keep] >= 9).any() and (src[keep] < 9).any()
    masks = Mask.packed(LENGTHS["mixed"]), Mask.packed(TARGETS["mixed"])
    packed = model(together(src, keep), together(trg, target), *masks)
    torch.testing.assert_close(packed[0], model(src, trg, keep, target)[target], atol=1e-5, rtol=0)


def test_several_packed_rows(tiny, position):
    """Two rows of six tokens, of three documents and of two."""
    model, ids = tiny("encoder", position=position), torch.randint(13, (2, 6))
    packed = model(ids, Mask(documents=torch.tensor([[0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1]])))
    for row, pieces in enumerate(([2, 3, 1], [2, 4])):
        alone = [model(piece) for piece in ids[row : row + 1].split(pieces, 1)]
        torch.testing.assert_close(packed[row], torch.cat(alone, 1)[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary", "none"])
def test_a_text_is_the_same_wherever_it_stands(tiny, kind):
    """To the bit, since positions restart."""
    model, text = tiny("encoder", position=kind), torch.randint(13, (1, 5))
    packed = model(text.repeat(1, 400), Mask.packed([5] * 400)).view(400, 5, -1)
    assert packed.equal(packed[:1].expand_as(packed))


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_document_reads_no_other(norm_first, tiny, position):
    model, ids = tiny(position=position, norm_first=norm_first), torch.randint(13, (1, 6))
    trg = torch.randint(11, (1, 5))
    masks = Mask.packed([2, 3, 1]), Mask.packed([1, 2, 2])
    before = model(ids, trg, *masks)
    ids[0, 3], trg[0, 2] = (ids[0, 3] + 1) % 13, (trg[0, 2] + 1) % 11
    after = model(ids, trg, *masks)
    assert after[0, [0, 3, 4]].equal(before[0, [0, 3, 4]])
    assert not after[0, [1, 2]].allclose(before[0, [1, 2]], atol=1e-3)


def test_sources_packed_and_targets_not_is_refused(tiny):
    model, ids = tiny(), torch.randint(11, (1, 4))
    with pytest.raises(ShapeError, match="The target is not packed and the other side is"):
        model(ids, ids, Mask.packed([2, 2]))
    with pytest.raises(ShapeError, match="The source is not packed and the other side is"):
        model(ids, ids, None, Mask.packed([2, 2]))
