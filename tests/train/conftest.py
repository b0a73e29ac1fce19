from functools import partial

import pytest
import torch
from tests.runs import Heard
from torch import nn

from sublayer.nn import Dropout
from sublayer.train.loss import cross_entropy
from sublayer.train.optim import optimizer
from sublayer.train.plan import Limits
from sublayer.train.schedule import Constant
from sublayer.train.trainer import Trainer


class Numbers:
    """Batches of a problem of three classes; the rows of each epoch are remembered as they are made."""

    def __init__(self, batches=6):
        draw = torch.Generator().manual_seed(5)
        self.x = torch.randn(batches * 4, 3, generator=draw)
        self.y = torch.randint(3, (batches * 4,), generator=draw)
        self.batches, self.made = batches, []

    def epoch(self, number):
        order = torch.randperm(self.batches * 4, generator=torch.Generator().manual_seed(number))
        return order.view(self.batches, 4).tolist()

    def make(self, rows):
        self.made.append(rows)
        return self.x[rows], self.y[rows]


def loss(model, batch):
    x, y = batch
    return cross_entropy(model(x), y, 0.1)


@pytest.fixture
def trainer(tmp_path):
    """Makes a trainer of a small model with dropout; the same weights every time."""

    def make(folder="run", batches=None, peak=0.01, schedule=Constant, warmup=0, loss=loss, **options):
        torch.manual_seed(3)
        model = nn.Sequential(nn.Linear(3, 8), Dropout(0.3), nn.Tanh(), nn.Linear(8, 3))
        limits = Limits(**(dict(steps=10, log_every=1) | options.pop("limits", {})))
        options.setdefault("listener", Heard())
        (tmp_path / folder).mkdir(exist_ok=True)
        return Trainer(
            model,
            loss,
            batches or Numbers(),
            partial(optimizer, kind="adamw", weight_decay=0.01),
            schedule(peak, warmup, limits.steps),
            limits,
            folder=tmp_path / folder,
            **options,
        )

    return make
