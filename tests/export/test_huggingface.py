"""Runs as folders that transformers reads."""

import pytest
import torch
from safetensors.torch import load_file
from tests import published
from tests.runs import command, reverse_run

from sublayer.errors import ConfigError
from sublayer.export import huggingface as hf
from sublayer.interop.pretrained import from_pretrained
from sublayer.tasks.bundle import load

WORDS = "a cat sits on the mat and".split()
LABELS = {"0": "bad", "1": "fine", "2": "good"}


def folder(name, path, perturb):
    if name in ("gpt2", "t5", "bart"):
        return getattr(published, name)(path, perturb)
    if name.startswith("Modern"):
        name, own = name.removeprefix("Modern"), dict(classifier_bias=True, classifier_activation="tanh")
        own |= {} if name == "QuestionAnswering" else {"id2label": LABELS}
        return published.modernbert(path, WORDS, f"ModernBertFor{name}", perturb, **own)
    return published.bert(path, WORDS, f"BertFor{name}Classification", perturb, id2label=LABELS)


MODERN = ["ModernSequenceClassification", "ModernTokenClassification", "ModernQuestionAnswering"]


@pytest.mark.parametrize("name", ["Sequence", "Token", *MODERN, "gpt2", "t5", "bart"])
def test_there_and_back_to_the_bit(tmp_path, perturb, name):
    folder(name, tmp_path / "theirs", perturb)
    assert command("import", tmp_path / "theirs", tmp_path / "run").code == 0
    said = command("export", tmp_path / "run", "--to", "hf", "--out", tmp_path / "back")
    assert said.code == 0 and "read again with equal outputs; transformers" in said.out, said.err
    before, after = (load_file(tmp_path / name / "model.safetensors") for name in ("theirs", "back"))
    assert before.keys() == after.keys() and all(after[name].equal(before[name]) for name in before)
    again, theirs = from_pretrained(tmp_path / "back"), from_pretrained(tmp_path / "theirs")
    assert again.config == theirs.config and again.tokenizer.to_json() == theirs.tokenizer.to_json()
    told = {key: again.theirs.get(key) for key in ("id2label", "decoder_start_token_id")}
    if "Sequence" in name or "Token" in name:
        assert told["id2label"] == LABELS
    if name == "t5":
        assert told["decoder_start_token_id"] == 0
    ids = torch.tensor([[5, 6, 7]])
    written = [ids] if name in ("t5", "bart") else []
    assert again.model(ids, *written).equal(theirs.model(ids, *written))


def test_what_has_no_form_there(tmp_path):
    assert "hf: the vocabulary of this run was learned here" in command("export", reverse_run(), "--to", "hf").err
    published.bert(tmp_path / "theirs", WORDS, "BertForSequenceClassification")
    command("import", tmp_path / "theirs", tmp_path / "run")
    said = command("export", tmp_path / "run", "--to", "hf", "--check")
    assert said.out == "BertForSequenceClassification can hold this model.\n"
    path = tmp_path / "run" / "task.json"
    path.write_text(path.read_text("utf-8").replace('"first"', '"mean"'), encoding="utf-8")
    said = command("export", tmp_path / "run", "--to", "hf", "--check")
    assert said.code == 2 and "bert comes nearest, but for this:\n  - head.pool is 'mean', and in such" in said.err
    task = load(tmp_path / "run")
    task.pool, task.activation = "first", None
    with pytest.raises(ConfigError, match="head.activation is None, and in such a model 'tanh'"):
        hf.published(task)
