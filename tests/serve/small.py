"""A door on a small model that has learned nothing: for what does not depend on its answers."""

import torch

from sublayer.models import ModelConfig
from sublayer.models.build import build
from sublayer.serve.doors import door
from sublayer.serve.limits import Limits
from sublayer.tasks.search import Search
from sublayer.tasks.translate import Translate
from sublayer.text import train_tokenizer


def small_task(**search):
    source, target = train_tokenizer("char", ["abcdefgh 你好é👩"]), train_tokenizer("char", ["abcde 世界"])
    sizes = dict(d_model=16, num_heads=2, encoder_layers=2, decoder_layers=2, d_ff=24)
    config = ModelConfig(source_vocab=len(source), target_vocab=len(target), **sizes)
    torch.manual_seed(1)
    model = build(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape)
    return Translate(model, config, source, target, Search(**{"max_ratio": 1, "max_extra": 5, **search}))


def small_door(limits=None, **search):
    task = small_task(**search)
    return door(task, task.for_inference(), limits or Limits())
