import pytest

from sublayer.errors import ConfigError
from sublayer.train.optim import optimizer
from sublayer.train.tuning import freeze, slower


def learns(model):
    return {name for name, p in model.named_parameters() if p.requires_grad}


def test_what_is_frozen(tiny):
    model = tiny()
    every = learns(model)
    freeze(model, ["embeddings", "layers:1"])
    frozen = every - learns(model)
    first = ("source_embed.", "target_embed.", "encoder.layers.0.", "decoder.layers.0.")
    assert frozen == {name for name in every if name.startswith(first)}
    freeze(model, ["encoder.*", "*.bias"])
    assert not [name for name in learns(model) if name.startswith("encoder.") or name.endswith(".bias")]


def test_what_cannot_be_frozen(tiny):
    with pytest.raises(ConfigError, match="train.freeze: no parameter is of 'embedings'. Did you mean 'embeddings'?"):
        freeze(tiny(), ["embedings"])
    with pytest.raises(ConfigError, match="train.freeze leaves nothing to learn: name less"):
        freeze(tiny(), ["*"])


def test_the_rate_falls_from_layer_to_layer(tiny):
    scales = slower(tiny(), 0.5)
    assert scales["decoder.layers.1.ffn.up.weight"] == 0.5 and scales["encoder.layers.0.ffn.up.bias"] == 0.25
    assert scales["source_embed.tokens.weight"] == 0.125 and scales["encoder.norm.weight"] == 1
    assert set(slower(tiny(), 1.0).values()) == {1.0}


def test_groups_of_an_optimizer(tiny):
    model = tiny()
    freeze(model, ["embeddings"])
    groups = optimizer(model, "adamw", weight_decay=0.1, layer_decay=0.5).param_groups
    assert [(g["scale"], g["weight_decay"]) for g in groups] == [(1, 0), (0.5, 0.1), (0.5, 0), (0.25, 0.1), (0.25, 0)]
    assert sum(len(g["params"]) for g in groups) == len(learns(model))
