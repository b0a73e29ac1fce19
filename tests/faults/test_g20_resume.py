"""G20: a run that was stopped and resumed was another run. 60 pairs, dropout 0.1, 40 updates, stopped after 17."""

import json

import pytest
import torch
from tests.runs import Heard, tiny_recipe, words, write_pairs

from sublayer.tasks import translating
from sublayer.tasks.fit import fit


class Dies(Heard):
    """A listener that ends the process's work right after an update."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def step(self, progress):
        if progress.step > self.after:
            raise KeyboardInterrupt
        super().step(progress)


@pytest.fixture(params=[1, 2], ids=["accumulate 1", "accumulate 2"])
def recipe(request, tmp_path):
    every = words()
    train, valid = write_pairs(tmp_path / "train.tsv", every[:60]), write_pairs(tmp_path / "valid.tsv", every[60:80])
    # 4 words of 4 letters and </s> are 20 tokens: about 16 batches an epoch, so 17 is in the middle of one.
    settings = dict(steps=40, batch_tokens=20, accumulate=request.param, log_every=3, validate_every=7, seed=5)
    measured = dict(validate_metrics=["exact"], save_every=17, keep=3)
    return tiny_recipe(train, valid, model={"attention_dropout": 0.1}, **settings, **measured)


def run(recipe, folder, monkeypatch, *, dies=None, resume=False):
    """The line numbers of every batch that was made; what was told."""
    made = []

    class Watched(translating._Pairs):
        def make(self, rows):
            made.append(rows)
            return super().make(rows)

    heard = Heard() if dies is None else Dies(dies)
    with monkeypatch.context() as patch:
        patch.setattr(translating, "_Pairs", Watched)
        try:
            fit(recipe, folder, heard, resume=resume)
        except KeyboardInterrupt:
            assert dies is not None
    return made, heard


def files(folder):
    """All but the seconds that a run took."""
    found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    for name in [name for name in found if name.endswith("SHA256SUMS")]:
        found[name] = [line for line in found[name].splitlines() if not line.endswith(b"state.json")]
    for name in [name for name in found if name.endswith("state.json")]:
        state = json.loads(found[name])
        state["position"].pop("seconds")
        found[name] = state
    return found


@pytest.mark.parametrize("dies", [17, 23])
def test_to_the_bit_and_to_the_line(recipe, tmp_path, monkeypatch, dies):
    whole_made, _ = run(recipe, tmp_path / "whole", monkeypatch)
    first_made, _ = run(recipe, tmp_path / "parts", monkeypatch, dies=dies)
    assert sorted(p.name for p in (tmp_path / "parts" / "checkpoints").iterdir()) == ["step-00000017"]
    # Other work is done in between, and the metrics hold lines from after the checkpoint, the last of them half.
    torch.manual_seed(99), torch.rand(7)
    with (tmp_path / "parts" / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 18, "lo')
    second_made, heard = run(recipe, tmp_path / "parts", monkeypatch, resume=True)
    assert "Continuing from step-00000017." in heard.messages
    whole, parts = files(tmp_path / "whole"), files(tmp_path / "parts")
    assert parts.keys() == whole.keys()
    for name, content in whole.items():
        assert parts[name] == content, name
    # The next batch is the one that the whole run had: nothing repeated, nothing skipped.
    done = whole_made[: len(whole_made) - len(second_made)]
    assert done == first_made[: len(done)] and second_made == whole_made[len(done) :]
    position = parts["checkpoints/step-00000017/state.json"]["position"]
    assert position["batch"] != 0 and position["step"] == 17


def test_killed_before_the_first_checkpoint_it_starts_from_the_beginning(recipe, tmp_path, monkeypatch):
    run(recipe, tmp_path / "whole", monkeypatch)
    run(recipe, tmp_path / "parts", monkeypatch, dies=9)
    _, heard = run(recipe, tmp_path / "parts", monkeypatch, resume=True)
    assert "The run was stopped before its first checkpoint: it starts from the beginning." in heard.messages
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


def test_a_checkpoint_that_was_cut_off_is_passed_over(recipe, tmp_path, monkeypatch):
    run(recipe, tmp_path / "whole", monkeypatch)
    run(recipe, tmp_path / "parts", monkeypatch, dies=36)
    folder = tmp_path / "parts" / "checkpoints"
    assert sorted(p.name for p in folder.iterdir()) == ["step-00000017", "step-00000034"]
    (folder / "step-00000034").rename(folder / ".step-00000034.part")
    _, heard = run(recipe, tmp_path / "parts", monkeypatch, resume=True)
    assert "Continuing from step-00000017." in heard.messages
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
