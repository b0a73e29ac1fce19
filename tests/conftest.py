"""What many tests share: one thread, one seed, perturbed weights, ragged batches and tiny models."""

import os

import pytest
import torch

from sublayer.models import ModelConfig
from sublayer.models.build import build

torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the processes that tests start: workers share the cores

POSITIONS = ("sinusoidal", "learned", "rotary", "relative", "alibi", "none")


@pytest.fixture(autouse=True)
def same_start():
    torch.manual_seed(0)


@pytest.fixture
def perturb():
    """Adds 0.1 · N(0, 1) to every parameter: fresh norms are all ones and fresh biases all zeros, and two of them
    could be swapped unseen."""

    def perturb(module, seed=0):
        noise = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in module.parameters():
                parameter += 0.1 * torch.randn(parameter.shape, generator=noise)
        return module

    return perturb


@pytest.fixture
def ragged():
    """(B, S) bool, True = real, from the lengths of the rows."""

    def ragged(lengths, *, left=False):
        place = torch.arange(max(lengths))
        keep = place < torch.tensor(lengths)[:, None]
        return keep.flip(1) if left else keep

    return ragged


@pytest.fixture(params=POSITIONS)
def position(request):
    return request.param


@pytest.fixture
def tiny(perturb):
    """A two-layer model with perturbed weights, in eval mode."""

    def tiny(architecture="encoder-decoder", **settings):
        sizes = dict(source_vocab=13, target_vocab=11, d_model=16, num_heads=4, d_ff=24, max_len=32)
        layers = dict(encoder_layers=2, decoder_layers=2)
        return perturb(build(ModelConfig(architecture=architecture, **(sizes | layers | settings)))).eval()

    return tiny
