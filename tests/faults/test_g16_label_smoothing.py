"""G16: smoothing that counts padding, or that is in the perplexity that is told."""

import math

import pytest
import torch

from sublayer.data.batch import PairBatch
from sublayer.tasks.teaching import translation_loss
from sublayer.train.loss import cross_entropy

LOGITS = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0], [5.0, 5.0, -5.0, 0.0]])
TARGETS, REAL = torch.tensor([1, 2, 0]), torch.tensor([True, True, False])


def test_the_mass_is_spread_over_all_classes_and_the_mean_is_over_real_tokens():
    rows = [cross_entropy(LOGITS[i : i + 1], TARGETS[i : i + 1], 0.1).total.item() for i in range(2)]
    assert rows == pytest.approx([1.4901897, 1.3862944], abs=1e-6)
    loss = cross_entropy(LOGITS[REAL], TARGETS[REAL], 0.1)
    assert loss.count == 2
    assert loss.mean.item() == pytest.approx(1.4382420, abs=1e-6)
    assert math.exp(loss.nll.item() / loss.count) == pytest.approx(math.exp((1.4401897 + 1.3862944) / 2), abs=1e-5)


def test_a_row_of_padding_has_no_gradient():
    logits = LOGITS.clone().requires_grad_()
    cross_entropy(logits[REAL], TARGETS[REAL], 0.1).total.backward()
    assert logits.grad[2].eq(0).all() and logits.grad[:2].ne(0).any(-1).all()


def test_without_smoothing_it_is_cross_entropy():
    loss = cross_entropy(LOGITS, TARGETS)
    torch.testing.assert_close(loss.total, torch.nn.functional.cross_entropy(LOGITS, TARGETS, reduction="sum"))


def test_what_stands_in_padded_targets_changes_neither_loss_nor_gradient(tiny):
    model = tiny(dropout=0.0)
    found = []
    for pad in (0, 7):
        batch = PairBatch.of([[4, 5], [6]], [[5], [6, 7, 8]], pad_ids=(pad, pad), bos=2, eos=(3, 3))
        model.zero_grad()
        loss = translation_loss(model, batch, 0.1)
        loss.total.backward()
        found.append([loss.total.detach(), *(p.grad.clone() for p in model.parameters())])
        assert loss.count == 2 + 4
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)
