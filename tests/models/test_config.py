import math
import typing

import pytest
from pydantic import ValidationError

from sublayer.errors import ConfigError
from sublayer.models import ModelConfig
from sublayer.models.attending import BIASED, DISENTANGLED, TURNED
from sublayer.models.build import ADDED
from sublayer.models.config import KINDS
from sublayer.models.heads import HEADS
from sublayer.models.parts import FEEDFORWARDS, KERNELS, NORMS
from sublayer.nn.feedforward import ACTIVATIONS


def told(**fields):
    with pytest.raises(ConfigError) as caught:
        ModelConfig.read(fields)
    title, *problems = str(caught.value).splitlines()
    assert title == "The model cannot be built:"
    return [problem.removeprefix("  - ") for problem in problems]


def test_all_problems_at_once_each_with_its_cure():
    problems = told(
        d_model=10,
        num_heads=3,
        num_kv_heads=2,
        tie="all",
        source_vocab=4,
        target_vocab=5,
        norm="layer_norm",
        position="rotery",
        first_feature=9,
        drop_out=0.1,
    )
    assert problems == [
        "drop_out is no setting of a model. Did you mean 'dropout'?",
        "norm: kind 'layer_norm' is unknown. Did you mean 'layernorm'? For your own: package.module:Class",
        "position: kind 'rotery' is unknown. Did you mean 'rotary'? For your own: package.module:Class",
        "d_model=10 does not divide into num_heads=3 equal heads: choose num_heads from 1, 2, 5, 10",
        "num_heads=3 is no multiple of num_kv_heads=2",
        "tie='all' needs one vocabulary, and source_vocab=4, target_vocab=5: "
        "set text.shared to true, or tie to 'target'",
        "features without a position need position 'sinusoidal' or 'learned', not 'rotery'",
    ]


def test_rotary_in_an_odd_head_names_the_cure():
    (problem,) = told(d_model=12, num_heads=4, position="rotary")
    assert problem.startswith("rotary positions turn pairs, and a head is 3 wide: choose num_heads so that")


def test_linear_attention_has_neither_scores_nor_weights():
    assert told(kernel="linear", position="alibi", attention_dropout=0.1) == [
        "position 'alibi' adds to scores, and kernel 'linear' computes none: "
        "choose 'sinusoidal', 'learned', 'rotary' or 'none', or kernel 'local'",
        "attention_dropout=0.1 drops weights, and kernel 'linear' has none: set it to 0",
    ]
    assert ModelConfig(kernel="linear", position="rotary").problems() == []


def test_wrong_values_name_their_field():
    problems = told(d_model=0, dropout="much", architecture="encoder_decoder", tie="both", dmodel=3)
    assert problems[0] == "dmodel is no setting of a model. Did you mean 'd_model'?"
    assert [p.partition(":")[0] for p in problems[1:]] == ["architecture", "d_model", "dropout", "tie"]
    assert "'encoder-decoder', 'encoder' or 'decoder', not 'encoder_decoder'" in problems[1]


def test_an_unknown_activation_lists_the_known_ones():
    (problem,) = told(activation="gelu2")
    assert "'relu', 'gelu'" in problem and problem.endswith("not 'gelu2'")


def test_a_part_is_a_name_or_a_name_with_options():
    config = ModelConfig(norm="rmsnorm", position={"kind": "learned", "offset": 2})
    assert (config.norm.kind, config.norm.options) == ("rmsnorm", {})
    assert (config.position.kind, config.position.options) == ("learned", {"offset": 2})


def test_the_record_is_frozen_and_survives_json():
    config = ModelConfig(source_vocab=5, target_vocab=5, position={"kind": "sinusoidal", "layout": "halves"})
    assert ModelConfig.model_validate_json(config.model_dump_json()) == config
    with pytest.raises(ValidationError, match="frozen"):
        config.d_model = 3


def test_different_vocabularies_matter_only_where_both_are_tied():
    assert ModelConfig(tie="target", source_vocab=4, target_vocab=5).problems() == []
    assert ModelConfig(tie="all", architecture="decoder", target_vocab=5).problems() == []


def test_the_names_are_those_that_build_knows():
    assert KINDS == {
        "ffn": tuple(FEEDFORWARDS),
        "norm": tuple(NORMS),
        "position": (*ADDED, *TURNED, *BIASED, DISENTANGLED, "none"),
        "kernel": tuple(KERNELS),
        "head": ("none", *HEADS),
    }
    assert typing.get_args(ModelConfig.model_fields["activation"].annotation) == tuple(ACTIVATIONS)


def test_disentangled_positions_have_options_of_their_own():
    far = {"kind": "disentangled", "buckets": 2, "terms": ["c2p", "p2p"], "spread": 1}
    assert told(architecture="decoder", position=far) == [
        "position 'disentangled' is for an encoder, and the architecture is 'decoder'",
        "position.buckets: Input should be greater than or equal to 4, not 2",
        "position.terms.1: Input should be 'c2p' or 'p2c', not 'p2p'",
        "position.spread: Extra inputs are not permitted, not 1",
    ]


def test_what_is_for_encoders_is_refused_elsewhere():
    assert told(architecture="decoder", head="classes", local_layers={}) == [
        "head 'classes' is for an encoder, and the architecture is 'decoder': set head to 'none'",
        "local_layers are those of an encoder with rotary positions, and architecture is 'decoder', "
        "position 'sinusoidal': leave them out",
    ]


def test_how_long_a_sequence_can_be():
    """Also where learned positions stand beside those between tokens, as in some DeBERTa."""
    longest = {kind: ModelConfig(position=kind, max_len=9).longest for kind in ("learned", "sinusoidal", "rotary")}
    assert longest == {"learned": 9, "sinusoidal": math.inf, "rotary": math.inf}
    for absolute, expected in ((True, 9), (False, math.inf)):
        position = {"kind": "disentangled", "absolute": absolute}
        assert ModelConfig(architecture="encoder", position=position, max_len=9).longest == expected
