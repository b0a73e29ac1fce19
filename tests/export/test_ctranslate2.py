import math

import pytest

from sublayer.export.compare import compare
from sublayer.export.ctranslate2 import CTranslate2, export, problems
from sublayer.models import ModelConfig
from sublayer.tasks.search import Search

LINES = ["abc", "h", "aa bb", "", "gfedcbagfedcba", "dd"]
VARIANTS = [
    {},
    {"norm_first": False, "activation": "gelu"},
    {"norm": "rmsnorm", "ffn": "swiglu", "bias": False},
    {"num_kv_heads": 2, "activation": "gelu_tanh"},
    {"ffn": "geglu", "tie": "none"},
    {"ffn": {"kind": "glu", "activation": "tanh"}},
    {"activation": "silu", "kernel": "eager", "encoder_layers": 1},
    {"norm": {"kind": "layernorm", "eps": 1e-2}},
]
POSITIONS = [
    "sinusoidal",
    {"kind": "sinusoidal", "layout": "halves", "theta": 100},
    "learned",
    "rotary",
    {"kind": "rotary", "layout": "interleaved", "theta": 500},
    "relative",
    "none",
]


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
@pytest.mark.parametrize("position", POSITIONS, ids=str)
def test_all_that_its_format_can_say(translator, position, settings, tmp_path):
    task = translator(position=position, **settings)
    assert problems(task.config) == []
    export(task, tmp_path)
    found = compare(task, CTranslate2(tmp_path))
    assert found.identical == found.sources == 50 and found.difference < 1e-5


def test_answers_read_as_those_of_the_model(translator, tmp_path):
    task = translator()
    export(task, tmp_path)
    expected = list(task.predict(LINES))
    task.engine = CTranslate2(tmp_path)
    for found, ours in zip(task.predict(LINES), expected, strict=True):
        assert (found[0].text, found[0].tokens, found[0].finished) == (ours[0].text, ours[0].tokens, ours[0].finished)
        assert found[0].token_logps == pytest.approx(ours[0].token_logps, abs=1e-5)
        assert found[0].score == pytest.approx(ours[0].score, abs=1e-5)


def test_each_line_is_cut_at_its_own_limit(translator, tmp_path):
    task = translator()
    task.search = Search(max_ratio=1, max_extra=1)
    expected = [[a.tokens for a in found] for found in task.predict(LINES)]
    export(task, tmp_path)
    task.engine = CTranslate2(tmp_path)
    assert [[a.tokens for a in found] for found in task.predict(LINES)] == expected
    assert len(expected[1][0]) == 3


def test_a_beams_scores_are_those_of_its_texts(translator, tmp_path):
    task = translator()
    export(task, tmp_path)
    task.engine = CTranslate2(tmp_path)
    search = Search(beam=4, nbest=3, length_penalty=1.0, length_rule="power")
    for found in task.predict([line for line in LINES if line], search=search):
        assert len({answer.text for answer in found}) == 3
        assert [a.score for a in found] == sorted((a.score for a in found), reverse=True)
        for answer in found:
            assert answer.logp == pytest.approx(math.fsum(answer.token_logps), abs=1e-4)
            assert answer.score == pytest.approx(answer.logp / len(answer.token_logps), abs=1e-5)


def test_log_probabilities_of_tokens_are_left_out_where_nobody_asks(translator, tmp_path):
    task = translator()
    export(task, tmp_path)
    task.engine = CTranslate2(tmp_path, scored=False)
    [[answer]] = task.predict(["abc"])
    assert math.isnan(answer.score) and all(map(math.isnan, answer.token_logps))
    [[answer, _]] = task.predict(["abc"], search=Search(beam=2, nbest=2))  # which are ranked by them
    assert not math.isnan(answer.score)


def test_what_it_cannot_say_is_named():
    def reasons(**settings):
        return problems(ModelConfig(source_vocab=9, target_vocab=9, **settings))

    assert reasons(position="alibi") == ["position 'alibi': its encoders have none"]
    assert reasons(architecture="encoder") == ["architecture 'encoder': only encoder-decoders are exported"]
    assert reasons(norm="mine:Norm", ffn="mine:Net") == [
        "ffn 'mine:Net' is code of your own",
        "norm 'mine:Norm' is code of your own",
    ]
    assert reasons(first_feature=7) == ["features without positions (model.first_feature): its embeddings all have one"]
