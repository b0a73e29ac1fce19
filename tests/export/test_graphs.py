"""ONNX and torch.export: seconds a graph, so most variants are slow tests."""

import pytest
import torch

from sublayer.export import onnx, program
from sublayer.export.compare import compare
from sublayer.export.program import Encode, Step
from sublayer.tasks.search import Search

ONE_LAYER = {"encoder_layers": 1, "decoder_layers": 1}
SLOW = [
    pytest.param(settings, marks=pytest.mark.slow, id=str(settings))
    for settings in (
        {"position": "rotary", "norm": "rmsnorm", "ffn": "swiglu", "bias": False},
        {"position": "relative", "norm_first": False, "activation": "gelu"},
        {"position": "alibi", "num_kv_heads": 2},
        {"position": "learned", "tie": "none"},
    )
]


def test_the_programs_parts_are_the_model(translator, ragged, position):
    """Before they are traced, over any number of steps and of tokens a step."""
    model = translator(position=position).model
    source, keep, target = torch.randint(4, 10, (2, 6)), ragged([6, 3]), torch.randint(4, 9, (2, 5))
    expected = model(source, target, keep).log_softmax(-1)
    encode, step, lengths = Encode(model), Step(model), torch.tensor([6, 3])
    cross, past = encode(source, lengths), []
    for start, end in ((0, 2), (2, 3), (3, 5)):
        logp, past = step(target[:, start:end], lengths, cross, past)
        torch.testing.assert_close(logp, expected[:, end - 1], atol=1e-5, rtol=0)


@pytest.mark.parametrize("way", [onnx, program], ids=["onnx", "torch"])
@pytest.mark.parametrize("settings", [ONE_LAYER, *SLOW], ids=str)
def test_graphs_answer_as_the_model(translator, tmp_path, way, settings):
    task = translator(**settings)
    way.export(task, tmp_path)
    engine = onnx.engine(tmp_path, 1) if way is onnx else program.engine(tmp_path)
    found = compare(task, engine)
    assert found.identical == found.sources == 50 and found.difference < 1e-5
    for search in (Search(), Search(beam=4, nbest=2)):
        lines = ["a", "bcd", "hgfedcba hgfedcba hg", "e"]
        expected = [[a.text for a in answers] for answers in task.predict(lines, search=search)]
        exported = type(task)(task.model, task.config, task.source, task.target, search, engine)
        assert [[a.text for a in answers] for answers in exported.predict(lines)] == expected
