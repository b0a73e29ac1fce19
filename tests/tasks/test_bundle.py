import json
import shutil
import sys

import pytest
from tests.runs import CHARS, Heard, reverse_run, tiny_recipe, write_pairs

import sublayer
from sublayer.errors import CheckpointError
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit


@pytest.fixture
def run(tmp_path):
    """A copy of a trained run, to be spoilt."""
    return shutil.copytree(reverse_run(), tmp_path / "run")


def test_saved_and_loaded_it_answers_the_same(task, tmp_path):
    task.save_pretrained(tmp_path / "new" / "folder")
    again = load(str(tmp_path / "new" / "folder"))
    assert list(again.predict(["abc", "de"])) == list(task.predict(["abc", "de"]))
    assert again.config == task.config and again.search == task.search
    assert not again.model.training
    names = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert names == {"config.json", "model.safetensors", "task.json", "tokenizer.json", "target_tokenizer.json"}


def test_it_is_at_the_top_of_the_package(task):
    assert sublayer.load is load
    assert task.tokenizer is task.source


def test_one_shared_vocabulary_is_one_file_and_one_object(tmp_path):
    train = write_pairs(tmp_path / "a.tsv", ["ab", "ba"])
    task = fit(tiny_recipe(train, text=CHARS | {"shared": True}, model={"tie": "all"}), tmp_path / "run", Heard())
    assert task.source is task.target
    again = load(tmp_path / "run")
    assert again.source is again.target
    assert again.model.source_embed.tokens.weight is again.model.project.weight
    assert not (tmp_path / "run" / "target_tokenizer.json").exists()


def test_without_weights_they_are_fresh(run):
    (run / "model.safetensors").unlink()
    assert load(run, weights=False).config.d_model == 48
    with pytest.raises(CheckpointError, match="model.safetensors cannot be read"):
        load(run)


@pytest.mark.parametrize("file", ["config.json", "task.json", "tokenizer.json", "target_tokenizer.json"])
def test_each_file_that_is_missing_or_broken_is_named(run, file):
    (run / file).write_text("{", encoding="utf-8")
    with pytest.raises(CheckpointError, match=file):
        load(run)
    (run / file).unlink()
    with pytest.raises(CheckpointError, match=file):
        load(run)
    (run / file).write_text("[]", encoding="utf-8")
    with pytest.raises(CheckpointError, match=file):
        load(run)


def test_no_folder_and_another_task_are_told(run, tmp_path):
    with pytest.raises(CheckpointError, match="nowhere is no run folder: there is no such folder"):
        load(tmp_path / "nowhere")
    about = json.loads((run / "task.json").read_text("utf-8"))
    for change in ({"task": "juggle"}, {"format": 9}):
        (run / "task.json").write_text(json.dumps(about | change), "utf-8")
        with pytest.raises(CheckpointError, match="this version reads format 1, task 'translate'"):
            load(run)


def test_weights_of_another_size_are_told(run):
    config = json.loads((run / "config.json").read_text("utf-8"))
    (run / "config.json").write_text(json.dumps(config | {"d_ff": 64}), "utf-8")
    with pytest.raises(CheckpointError, match=r"does not fit the model:(?s:.*)shape: encoder.layers.0.ffn"):
        load(run)


def test_settings_that_cannot_be_name_the_file(run):
    config = json.loads((run / "config.json").read_text("utf-8"))
    (run / "config.json").write_text(json.dumps(config | {"num_heads": 5, "d_modle": 3}), "utf-8")
    with pytest.raises(CheckpointError, match=r"config.json: (?s:.*)Did you mean 'd_model'(?s:.*)num_heads=5"):
        load(run)
    (run / "config.json").write_text(json.dumps(config | {"architecture": "encoder"}), "utf-8")
    with pytest.raises(CheckpointError, match="config.json: task 'translate' needs an encoder-decoder, not 'encoder'"):
        load(run)
    (run / "config.json").write_text(json.dumps(config), "utf-8")
    about = json.loads((run / "task.json").read_text("utf-8"))
    (run / "task.json").write_text(json.dumps(about | {"search": {"beam": 0}}), "utf-8")
    with pytest.raises(CheckpointError, match="task.json: search: .*greater than or equal to 1"):
        load(run)


@pytest.mark.parametrize("part", ["planted:Norm", {"kind": "planted:Norm"}])
def test_code_is_imported_only_from_folders_that_are_trusted(run, tmp_path, monkeypatch, part):
    marker = tmp_path / "marker"
    monkeypatch.delitem(sys.modules, "planted", raising=False)
    (tmp_path / "planted.py").write_text(
        f"import pathlib; pathlib.Path({str(marker)!r}).touch()\nfrom sublayer.nn import LayerNorm as Norm\n", "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = json.loads((run / "config.json").read_text("utf-8"))
    (run / "config.json").write_text(json.dumps(config | {"norm": part}), "utf-8")
    with pytest.raises(CheckpointError, match=r"names code to be imported: planted:Norm.* trust_code=True"):
        load(run)
    assert not marker.exists()
    trusted = load(run, trust_code=True)
    assert marker.exists()
    assert next(trusted.predict(["abc"]))[0].text == "cba"
