"""Published models that predict as they are."""

import pytest
import torch
from tests import published
from tests.runs import command

import sublayer
from sublayer.errors import ExportError
from sublayer.tasks.importing import TEXTS, _against

WORDS = "a cat sits on the mat and 3 14 . , & ! naive".split()
LABELS = {"0": "bad", "1": "fine", "2": "good"}


@pytest.mark.parametrize("architecture", ["BertForSequenceClassification", "BertForTokenClassification"])
def test_an_encoder_with_a_head(tmp_path, perturb, architecture):
    made = published.bert(tmp_path / "theirs", WORDS, architecture, perturb, id2label=LABELS)
    told = command("import", tmp_path / "theirs", tmp_path / "ours")
    assert told.code == 0, told.err
    lines = told.out.splitlines()
    assert lines[0].startswith(f"bert, {architecture}: ") and lines[1] == "left out: nothing"
    assert lines[2] == f"ids of {TEXTS[0]!r}: 2 5 6 7 8 9 10 14 3" and lines[5].startswith("outputs: ")
    assert "ids equal, outputs within " in lines[6] and lines[7].startswith("Next: sublayer predict")
    task = sublayer.load(tmp_path / "ours")
    ids = torch.tensor([made.tokenizer.inputs("the cat").ids])
    with torch.inference_mode():
        logits = made.model(ids)
    (said,) = task.predict(["the cat"])
    if architecture == "BertForSequenceClassification":
        assert said.scores == pytest.approx(dict(zip(LABELS.values(), logits[0].softmax(-1).tolist(), strict=True)))
    else:
        assert said.tags == tuple(LABELS[str(int(i))] for i in logits[1:3].argmax(-1))


@pytest.mark.parametrize("task", ["Sequence", "Token"])
def test_a_head_with_a_map_of_its_own(tmp_path, perturb, task):
    said = dict(classifier_pooling="mean", classifier_bias=True, classifier_activation="silu", id2label=LABELS)
    architecture = f"ModernBertFor{task}Classification"
    made = published.modernbert(tmp_path / "theirs", WORDS, architecture, perturb, **said)
    told = command("import", tmp_path / "theirs", tmp_path / "ours")
    assert told.code == 0 and "ids equal, outputs within " in told.out, told.err
    ours, ids = sublayer.load(tmp_path / "ours"), torch.tensor([made.tokenizer.inputs("the cat").ids])
    assert ours.model(ids).equal(made.model(ids))


def test_a_classifier_of_pairs(tmp_path, perturb):
    published.bert(tmp_path / "theirs", WORDS, "BertForSequenceClassification", perturb)
    command("import", tmp_path / "theirs", tmp_path / "ours", "--pairs")
    task = sublayer.load(tmp_path / "ours")
    (said,) = task.predict(["the cat\ta mat"])
    assert set(said.scores) == {"LABEL_0", "LABEL_1"} and task.labels.texts == 2


def test_models_that_write(tmp_path, perturb):
    published.gpt2(tmp_path / "gpt2", perturb)
    published.t5(tmp_path / "t5", perturb)
    for name, task in (("gpt2", "Complete"), ("t5", "Translate")):
        told = command("import", tmp_path / name, tmp_path / f"{name}-run")
        assert told.code == 0 and "outputs within " in told.out, told.err
        ours = sublayer.load(tmp_path / f"{name}-run")
        assert type(ours).__name__ == task and next(ours.predict(["a cat"]))[0].tokens
    assert sublayer.load(tmp_path / "gpt2-run").context == 64
    published.m2m100(tmp_path / "many", perturb)
    assert "is for several languages" in command("import", tmp_path / "many", tmp_path / "m").err
    assert command("import", tmp_path / "many", tmp_path / "m", "--languages", "xx", "yy").code == 0


def test_what_cannot_be_imported(tmp_path):
    published.bert(tmp_path / "theirs", WORDS, "BertModel")
    told = command("import", tmp_path / "theirs", tmp_path / "ours")
    assert told.code == 2 and "holds bert that gives states, and no task predicts with that" in told.err
    assert not (tmp_path / "ours").exists() and not list(tmp_path.glob(".*"))
    (tmp_path / "ours").mkdir()
    assert "ours is there already. Choose another folder." in command("import", "x", tmp_path / "ours").err
    (tmp_path / "theirs" / "tokenizer.json").unlink()
    assert "holds no vocabulary" in command("import", tmp_path / "theirs", tmp_path / "other").err


class Other:
    """Says something else than ours, or reads it."""

    def __init__(self, ids, outputs):
        self.version, self._ids, self._outputs = "0", ids, outputs

    def ids(self, text):
        return self._ids

    def outputs(self, ids, written):
        return self._outputs


def test_an_import_that_differs_is_refused():
    read, ours = [[1]] * len(TEXTS), [torch.ones(1, 2)] * len(TEXTS)
    assert _against(None, read, ours, None) == "not compared with transformers, which is not installed"
    assert _against(Other([1], torch.ones(2)), read, ours, None) == "transformers 0: ids equal, outputs within 0.0e+00"
    assert "ids not compared" in _against(Other(None, torch.ones(2)), read, ours, None)
    with pytest.raises(ExportError, match="gives other outputs, by up to 1.0e"):
        _against(Other([1], torch.zeros(2)), read, ours, None)
    with pytest.raises(ExportError, match="not as above"):
        _against(Other([2], torch.ones(2)), read, ours, None)
