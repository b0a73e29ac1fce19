import pytest
import torch

from sublayer.data.batch import PackedPairs, PairBatch
from sublayer.tasks.teaching import logits, sizes, translation_loss

SOURCES = [[5, 6, 7], [4], [], [8, 9, 10, 11, 12, 4]]
TARGETS = [[4], [5, 6, 7, 8], [9, 10], []]
BOS, EOS = 2, (3, 3)


@pytest.fixture
def batches():
    padded = PairBatch.of(SOURCES, TARGETS, pad_ids=(0, 0), bos=BOS, eos=EOS)
    return padded, PackedPairs.of(SOURCES, TARGETS, bos=BOS, eos=EOS)


def test_sizes_count_the_end():
    assert sizes([([5, 6], [7]), ([], [8])]).tolist() == [[3, 2], [1, 2]]


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
def test_a_packed_batch_costs_what_the_padded_one_does(train, norm_first, tiny, position, batches):
    model = tiny(position=position, norm_first=norm_first, dropout=0.0).train(train)
    losses = [translation_loss(model, batch, 0.1) for batch in batches]
    for name in ("total", "nll", "count"):
        torch.testing.assert_close(*(torch.as_tensor(getattr(loss, name)) for loss in losses), atol=1e-4, rtol=1e-6)
    assert losses[0].count == 11
    gradients = []
    for loss in losses:
        model.zero_grad()
        loss.total.backward()
        gradients.append([p.grad for p in model.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_logits_stand_row_after_row_in_both(tiny, batches):
    model = tiny()
    torch.testing.assert_close(*(logits(model, batch) for batch in batches), atol=1e-5, rtol=0)
    alone = PairBatch.of(SOURCES[1:2], TARGETS[1:2], pad_ids=(0, 0), bos=BOS, eos=EOS)
    torch.testing.assert_close(logits(model, batches[1])[2:7], logits(model, alone), atol=1e-5, rtol=0)
