"""G15: gradients of micro-batches were averaged as means of means."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runs import TINY, Heard

from sublayer.models.build import build
from sublayer.models.config import ModelConfig
from sublayer.tasks.search import Search
from sublayer.tasks.teaching import translation_loss
from sublayer.tasks.translate import Translate
from sublayer.text import train_tokenizer
from sublayer.train.loss import Loss
from sublayer.train.plan import Limits
from sublayer.train.schedule import Constant
from sublayer.train.trainer import Trainer

WORDS = "a bc cde abcde e dcb ab eeeee ca d bcda cc".split()  # of lengths that differ, so that there is padding
EXAMPLES = [([4 + ord(c) - ord("a") for c in word],) * 2 for word in WORDS]


class Split:
    """Twelve examples in batches of these sizes."""

    def __init__(self, task, sizes):
        self.task, self.sizes = task, sizes

    def epoch(self, number):
        ends = [sum(self.sizes[: i + 1]) for i in range(len(self.sizes))]
        return [list(range(end - size, end)) for size, end in zip(self.sizes, ends, strict=True)]

    def make(self, rows):
        return self.task.batch([EXAMPLES[row] for row in rows])


def after_one_update(folder, sizes):
    torch.manual_seed(1)
    tokenizer = train_tokenizer("char", ["abcde"])
    config = ModelConfig(source_vocab=9, target_vocab=9, **(TINY | {"dropout": 0.0}))
    task = Translate(build(config), config, tokenizer, tokenizer, Search())

    # Plain steps without clipping: Adam and a clipped norm would hide a wrong scale.
    def moved(model):
        return torch.optim.SGD(model.parameters())

    limits = Limits(steps=1, accumulate=len(sizes), clip=0, log_every=1)
    heard = Heard()
    batches = Split(task, sizes)
    Trainer(
        task.model, translation_loss, batches, moved, Constant(0.5, 0, 1), limits, folder=folder, listener=heard
    ).run()
    return torch.cat([p.detach().flatten() for p in task.model.parameters()]), heard.records[0]["loss"]


@pytest.mark.parametrize("sizes", [[1] * 12, [1, 11], [11, 1], [3, 4, 5], [6, 6]])
def test_any_split_moves_the_parameters_as_the_whole_batch_does(tmp_path, sizes):
    expected, expected_loss = after_one_update(tmp_path, [12])
    found, loss = after_one_update(tmp_path, sizes)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
    assert loss == pytest.approx(expected_loss, abs=1e-6)


def test_one_token_of_four_and_three_of_one_are_seven_quarters():
    both = Loss(torch.tensor(4.0), torch.tensor(4.0), 1) + Loss(torch.tensor(3.0), torch.tensor(3.0), 3)
    assert both.mean.item() == 1.75


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.floats(0, 9), min_size=1, max_size=5), min_size=1, max_size=6))
def test_the_mean_of_any_split_is_the_mean_of_all_tokens(batches):
    losses = [Loss(torch.tensor(b, dtype=torch.float64).sum(), torch.tensor(0.0), len(b)) for b in batches]
    summed = sum(losses[1:], losses[0])
    every = [x for b in batches for x in b]
    assert summed.mean.item() == pytest.approx(sum(every) / len(every), abs=1e-9)
