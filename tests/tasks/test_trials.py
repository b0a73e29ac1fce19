import json
from types import SimpleNamespace

import pytest
from tests.runs import TINY, Heard, words, write_pairs

from sublayer.errors import ConfigError, DataError, DivergedError
from sublayer.tasks import trials
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe, read_recipe
from sublayer.tasks.trials import Search

WORDS = words()
SPACE = "train.learning_rate: {low: 1e-4, high: 1e-2, log: true}\ntrain.warmup: [0, 2]\n"


def recipe(folder, **settings):
    """Six updates, validated after each two, with two checkpoints kept."""
    train = dict(steps=6, batch_tokens=64, log_every=1, validate_every=2, save_every=4, validate_metrics=[])
    files = {"train": str(folder / "train.tsv"), "valid": str(folder / "valid.tsv")}
    kinds = {"source": {"kind": "char"}, "target": {"kind": "char"}}
    return make_recipe({"data": files, "text": kinds, "model": TINY, "train": train | settings}, origin="a test")


@pytest.fixture
def folder(tmp_path):
    write_pairs(tmp_path / "train.tsv", WORDS[:60])
    write_pairs(tmp_path / "valid.tsv", WORDS[60:70])
    (tmp_path / "space.yaml").write_text(SPACE, encoding="utf-8")
    return tmp_path


def search(folder, out="found", heard=None, **settings):
    return Search(recipe(folder, **settings), folder / "space.yaml", folder / out, heard or Heard())


class Dies(Heard):
    """At an update of the second run that it sees, or of another."""

    def __init__(self, step, run=2):
        super().__init__()
        self.at, self.runs = (run, step), 0

    def step(self, progress):
        super().step(progress)
        self.runs += progress.step == 1
        if (self.runs, progress.step) == self.at:
            raise KeyboardInterrupt


def test_each_trial_is_a_run_of_its_settings_and_the_best_recipe_gives_the_best_run(folder):
    searched = search(folder)
    tried = searched.run(3)
    assert [(t.number, t.state) for t in tried] == [(0, "done"), (1, "done"), (2, "done")]
    for each in tried:
        run = folder / "found" / f"trial-{each.number}"
        train = read_recipe(run / "recipe.yaml").train
        assert {"train.learning_rate": train.learning_rate, "train.warmup": train.warmup} == each.settings
        losses = [
            json.loads(line).get("valid_loss") for line in (run / "metrics.jsonl").read_text("utf-8").splitlines()
        ]
        assert each.value == min(loss for loss in losses if loss is not None)
    best = min(tried, key=lambda each: each.value)
    assert searched.study.best() == best
    fit(read_recipe(folder / "found" / "best.yaml"), folder / "again", Heard())
    weights = [
        (run / "model.safetensors").read_bytes() for run in (folder / "again", folder / f"found/trial-{best.number}")
    ]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("step", [1, 3, 6])  # before the first checkpoint, after it, and behind the last
def test_a_search_that_was_killed_goes_on_and_repeats_nothing(folder, step):
    whole = search(folder, "whole").run(3)
    with pytest.raises(KeyboardInterrupt):
        search(folder, heard=Dies(step)).run(3)
    heard = Heard()
    assert search(folder, heard=heard).run(3) == whole
    assert [line.partition(":")[0] for line in heard.messages if line.startswith("trial ")] == ["trial 1", "trial 2"]
    again = Heard()
    assert search(folder, heard=again).run(3) == whole and again.messages == again.steps == []
    assert len(search(folder).run(4)) == 4
    for name in ("metrics.jsonl", "model.safetensors"):
        made = [(folder / out / "trial-1" / name).read_bytes() for out in ("found", "whole")]
        assert made[0] == made[1], name


@pytest.fixture
def runs(monkeypatch):
    """Stands for training: the k-th run scores what stands in the k-th list, or raises what stands there."""
    made = SimpleNamespace(scores=[], resumed=[])

    def trained(recipe, run, listener, *, resume):
        made.resumed.append(resume)
        asked = made.scores.pop(0)
        if isinstance(asked, Exception):
            raise asked
        run.mkdir(exist_ok=True)
        (run / "recipe.yaml").write_text("task: translate\n", encoding="utf-8")
        with (run / "metrics.jsonl").open("w", encoding="utf-8") as file:
            for step, score in enumerate(asked, 1):
                listener.step(SimpleNamespace(step=step))
                line = {"step": step, "valid_loss": score, "best": min(asked[:step]), "best_step": 0}
                file.write(json.dumps(line) + "\n")
                listener.record({"step": step, "loss": 9.0, "rate": 0.1})
                listener.record(line)

    monkeypatch.setattr(trials, "fit", trained)
    return made


def test_a_trial_that_is_worse_than_most_ends_early(folder, runs):
    runs.scores = [[5.0, 2.0, 3.0]] * 5 + [[6.0, 1.0, 1.0], [5.0, 1.5, 4.0]]
    heard = Heard()
    tried = search(folder, heard=heard).run(7)
    assert [t.value for t in tried] == [2.0] * 5 + [6.0, 1.5]
    assert [t.state for t in tried] == ["done"] * 5 + ["pruned", "done"]
    assert [step.step for step in heard.steps] == [1, 2, 3] * 5 + [1] + [1, 2, 3]
    assert "trial 5 is pruned: it is worse than most were there." in heard.messages
    assert [line.get("valid_loss") for line in heard.records if "best" in line][15:] == [6.0, 5.0, 1.5, 4.0]


def test_settings_that_cannot_be_or_diverge_are_told_and_the_search_goes_on(folder, runs):
    runs.scores = [DivergedError("the loss is nan"), [3.0], [float("nan")], [2.0]]
    (folder / "space.yaml").write_text("model.num_heads: [2]\n", encoding="utf-8")
    heard = Heard()
    searched = search(folder, heard=heard)
    tried = searched.run(4)
    assert [t.state for t in tried] == ["failed", "done", "failed", "done"] and searched.study.best().number == 3
    assert "trial 0 failed: the loss is nan" in heard.messages

    (folder / "space.yaml").write_text("model.num_heads: [3]\n", encoding="utf-8")
    heard = Heard()
    assert [t.state for t in search(folder, "other", heard).run(2)] == ["failed", "failed"]
    assert heard.messages[1].startswith(
        "trial 0 failed: its settings do not go together:\n  - model: d_model=16 does not divide"
    )
    assert runs.resumed == [False] * 4 and not (folder / "other" / "best.yaml").exists()


def test_what_is_no_fault_of_the_settings_ends_the_search_and_costs_no_trial(folder, runs):
    runs.scores = [DataError("a line"), [3.0]]
    with pytest.raises(DataError):
        search(folder).run(1)
    assert [t.value for t in search(folder).run(1)] == [3.0]
    runs.scores = [[2.0, 2.0], ConfigError("other data now")]
    with pytest.raises(KeyboardInterrupt):
        search(folder, heard=Dies(1, run=1)).run(2)
    with pytest.raises(ConfigError, match="other data now"):
        search(folder).run(2)
    assert runs.resumed == [False, False, False, True]


def test_another_search_is_not_mixed_with_it(folder, runs):
    runs.scores = [[1.0]]
    search(folder).run(1)
    (folder / "space.yaml").write_text(SPACE.replace("[0, 2]", "[0, 3]"), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        search(folder, steps=8)
    assert str(error.value) == (
        f"{folder / 'found'} holds a search of something else. Choose another --out. Asked for now:\n"
        "  - recipe.train.steps: 8, and 6 in the search\n"
        "  - space.train.warmup: [0, 3], and [0, 2] in the search"
    )


def test_without_a_validation_file_nothing_is_compared(folder):
    asked = recipe(folder)
    asked.data.valid = None
    with pytest.raises(ConfigError, match="data.valid is not set: trials are compared by how they do on it."):
        Search(asked, folder / "space.yaml", folder / "found", Heard())
    assert not (folder / "found").exists()
