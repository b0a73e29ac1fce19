import pytest
import torch

from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.tasks.search import Search
from sublayer.tasks.translate import Translate
from sublayer.text import train_tokenizer


@pytest.fixture
def translator(perturb):
    """A task with a small model of perturbed weights, over letters; a line end is one of them."""

    def translator(**settings):
        source, target = train_tokenizer("char", ["abcdefgh "]), train_tokenizer("char", ["uvwxyz\n"])
        sizes = dict(d_model=16, num_heads=4, encoder_layers=2, decoder_layers=2, max_len=40)
        config = ModelConfig(source_vocab=len(source), target_vocab=len(target), **(sizes | settings))
        torch.manual_seed(0)
        return Translate(perturb(build(config)).eval(), config, source, target, Search())

    return translator
