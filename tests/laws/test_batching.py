"""A row alone, without padding, is the row in a batch."""

import pytest
import torch


@pytest.mark.parametrize("norm_first", [True, False])
def test_encoder(tiny, position, ragged, norm_first):
    model, lengths = tiny("encoder", position=position, norm_first=norm_first), [7, 1, 4]
    ids = torch.randint(13, (3, 7))
    together = model(ids, ragged(lengths))
    for row, length in enumerate(lengths):
        alone = model(ids[row : row + 1, :length])
        torch.testing.assert_close(alone[0], together[row, :length], atol=1e-5, rtol=0)


@pytest.mark.parametrize("kernel", ["fused", "eager", {"kind": "local", "window": 2}], ids=str)
def test_encoder_decoder(tiny, position, ragged, kernel):
    model, sources, targets = tiny(position=position, kernel=kernel), [7, 1, 4], [2, 6, 1]
    src, trg = torch.randint(13, (3, 7)), torch.randint(11, (3, 6))
    together = model(src, trg, ragged(sources), ragged(targets))
    for row, (s, t) in enumerate(zip(sources, targets, strict=True)):
        alone = model(src[row : row + 1, :s], trg[row : row + 1, :t])
        torch.testing.assert_close(alone[0], together[row, :t], atol=1e-5, rtol=0)


@pytest.mark.parametrize("left", [False, True])
def test_language_model(tiny, position, ragged, left):
    model, lengths = tiny("decoder", position=position), [7, 1, 4]
    keep, ids = ragged(lengths, left=left), torch.randint(11, (3, 7))
    together = model(ids, keep)
    for row in range(3):
        alone = model(ids[row][keep[row]][None])
        torch.testing.assert_close(alone[0], together[row][keep[row]], atol=1e-5, rtol=0)


def test_the_order_of_rows_does_not_matter(tiny, ragged):
    model, keep, ids = tiny("encoder"), ragged([7, 1, 4]), torch.randint(13, (3, 7))
    order = torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(ids[order], keep[order]), model(ids, keep)[order], atol=1e-6, rtol=0)


def test_gradients_of_a_batch_are_the_sum_over_its_rows(tiny, ragged):
    model, lengths = tiny("encoder").double(), [7, 1, 4]
    keep, ids = ragged(lengths), torch.randint(13, (3, 7))
    weight = torch.randn(3, 7, 16, dtype=torch.float64)
    (model(ids, keep) * weight)[keep].sum().backward()
    together = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    for row, length in enumerate(lengths):
        (model(ids[row : row + 1, :length]) * weight[row, :length]).sum().backward()
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.grad, together[name], atol=1e-10, rtol=1e-8, msg=name)
