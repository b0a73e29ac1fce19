import json
import shutil
from dataclasses import replace
from zlib import crc32

import pytest
from tests.runs import Heard, tiny_recipe, words, write_pairs

import sublayer
from sublayer.data import Corpus, Pair
from sublayer.data.conll import Sentence
from sublayer.data.questions import Question, Stretch
from sublayer.data.rows import Row
from sublayer.data.text import Line
from sublayer.errors import CheckpointError, ConfigError
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe import Noise
from sublayer.tasks.recipe_file import make_recipe, read_recipe, write_recipe
from sublayer.tasks.resuming import _digest

WORDS = words()
AS_IT_IS = make_recipe({}, origin="a test")


@pytest.fixture
def run(tmp_path):
    """Stopped after 8 of 40 updates, in the middle of an epoch; its files of pairs beside it."""
    train, valid = write_pairs(tmp_path / "train.tsv", WORDS[:60]), write_pairs(tmp_path / "valid.tsv", WORDS[60:80])
    with pytest.raises(KeyboardInterrupt):
        fit(tiny_recipe(train, valid, steps=40, keep=2, batch_tokens=20), tmp_path / "run", Dies(9))
    return tmp_path / "run"


class Dies(Heard):
    def __init__(self, at):
        super().__init__()
        self.at = at

    def step(self, progress):
        super().step(progress)
        if progress.step == self.at:
            raise KeyboardInterrupt


def resumed(run, **options):
    heard = Heard()
    fit(AS_IT_IS, run, heard, resume=True, **options)
    return heard


def one_more(folder):
    write_pairs(folder / "train.tsv", WORDS[:61])


def another(folder):
    write_pairs(folder / "train.tsv", ["aaaa", *WORDS[1:60]])


def other_valid(folder):
    write_pairs(folder / "valid.tsv", WORDS[60:79])


def larger_batches(folder):
    change(folder, batch_tokens=40)


def more_noise(folder):
    change(folder, noise=Noise(drop=0.5))


def change(folder, **settings):
    recipe = read_recipe(folder / "run" / "recipe.yaml")
    train = recipe.train.model_copy(update=settings)
    write_recipe(recipe.model_copy(update={"train": train}), folder / "run" / "recipe.yaml")


CHANGES = {
    one_more: "data.train: {}/train.tsv holds 61 pairs, and there were 60 when the run began",
    another: "data.train: {}/train.tsv holds other pairs than when the run began, or in another order",
    other_valid: "data.valid: {}/valid.tsv holds 19 pairs, and there were 20 when the run began",
    more_noise: """train.noise: {{"drop": 0.0, "blank": 0.0, "mix": 0}} when the run began, """
    """{{"drop": 0.5, "blank": 0.0, "mix": 0}} now""",
    larger_batches: "train.batch_tokens: 20 when the run began, 40 now",
}


@pytest.mark.parametrize("changed", CHANGES, ids=lambda change: change.__name__)
def test_what_has_changed_stops_a_resumed_run_or_sends_it_to_the_next_epoch(tmp_path, run, changed):
    changed(tmp_path)
    with pytest.raises(ConfigError) as error:
        resumed(run)
    said = CHANGES[changed].format(tmp_path)
    assert str(error.value) == (
        f"The run cannot go on where it stood, since this has changed:\n  - {said}\n"
        "Put it back, or go on with the next epoch on what there is now: --resume --next-epoch."
    )
    heard = resumed(run, next_epoch=True)
    assert f"Going on with epoch 1, since this has changed:\n  - {said}" in heard.messages
    assert [(step.step, step.epoch) for step in heard.steps][:2] == [(9, 1), (10, 1)]
    assert "Going on" not in " ".join(resumed(run).messages)  # what there is now is what the run is made of


@pytest.mark.parametrize(
    "items",
    [
        [Pair("a", "b'\n", 1), Pair("c", "ä", 7)],
        [Row(("a", "b"), 4)],
        [Question("who?", "Eve", (Stretch(0, 3),), 3)],
        [Sentence(("a",), ("O",), 2)],
        [Line("a text", 0, 5)],
        [],
    ],
    ids=lambda items: type(items[0]).__name__ if items else "none",
)
def test_a_file_is_known_by_what_its_examples_say_and_not_by_their_lines(items):
    said = b"".join(repr(replace(item, line=0)).encode() for item in items)
    assert _digest(Corpus("a file", items)) == crc32(said)
    assert _digest(Corpus("another", [replace(item, line=item.line + 1) for item in items])) == crc32(said)


def test_without_a_change_the_next_epoch_waits_its_turn(run):
    assert resumed(run, next_epoch=True).steps[0].epoch == 0


def test_what_changes_no_batch_is_no_hindrance(tmp_path, run):
    (tmp_path / "train.tsv").rename(tmp_path / "moved.tsv")
    recipe = read_recipe(run / "recipe.yaml")
    recipe.data.train = [str(tmp_path / "moved.tsv")]
    write_recipe(recipe, run / "recipe.yaml")
    change(tmp_path, steps=12, learning_rate=0.01)
    assert [step.step for step in resumed(run).steps] == [9, 10, 11, 12]


@pytest.fixture
def two(tmp_path):
    """A run with checkpoints after 4 and 8 updates, and its metrics."""
    train, valid = write_pairs(tmp_path / "train.tsv", WORDS[:60]), write_pairs(tmp_path / "valid.tsv", WORDS[60:80])
    fit(tiny_recipe(train, valid, steps=12, keep=9), tmp_path / "run", Heard())
    for name in ("step-00000012",):
        (tmp_path / "run" / "checkpoints" / name).rename(tmp_path / name)
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: flip(folder / "model.safetensors"), "model.safetensors is not what was written, its SHA-256"),
        (lambda folder: flip(folder / "state.safetensors"), "state.safetensors is not what was written"),
        (lambda folder: flip(folder / "state.json"), "state.json is not what was written"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors is missing"),
        (lambda folder: (folder / "SHA256SUMS").unlink(), "SHA256SUMS cannot be read"),
        (lambda folder: (folder / "SHA256SUMS").write_text(""), "SHA256SUMS is not whole"),
    ],
)
def test_a_damaged_checkpoint_is_passed_over_and_told(tmp_path, two, spoil, said):
    metrics = (two / "metrics.jsonl").read_bytes()
    last = (tmp_path / "step-00000012" / "model.safetensors").read_bytes()
    spoil(two / "checkpoints" / "step-00000008")
    heard = resumed(two)
    assert any(line.startswith(f"Passing over step-00000008: {said}") for line in heard.messages)
    assert "Continuing from step-00000004." in heard.messages
    assert (two / "metrics.jsonl").read_bytes() == metrics
    assert (two / "checkpoints" / "step-00000012" / "model.safetensors").read_bytes() == last
    assert (two / "checkpoints" / "step-00000008" / "model.safetensors").exists()


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_where_none_can_be_trusted_nothing_is_touched(two):
    for name in ("step-00000004", "step-00000008"):
        flip(two / "checkpoints" / name / "state.json")
    before = {path: path.read_bytes() for path in two.rglob("*") if path.is_file()}
    with pytest.raises(CheckpointError, match="No checkpoint in .* can be trusted:\n  - step-00000008: state.json .*"):
        resumed(two)
    assert {path: path.read_bytes() for path in two.rglob("*") if path.is_file()} == before


def test_one_that_has_lost_its_state_is_no_run_that_has_not_begun(two):
    (two / "checkpoints" / "step-00000008" / "state.json").unlink()
    heard = resumed(two)
    assert "Passing over step-00000008: state.json is missing." in heard.messages
    assert "Continuing from step-00000004." in heard.messages


@pytest.mark.parametrize("spoil", [lambda path: flip(path), lambda path: path.unlink()])
def test_where_the_only_one_is_damaged_the_best_weights_still_answer(tmp_path, spoil):
    """With keep: 1, which is the default."""
    train, valid = write_pairs(tmp_path / "train.tsv", WORDS[:60]), write_pairs(tmp_path / "valid.tsv", WORDS[60:80])
    fit(tiny_recipe(train, valid, steps=12), tmp_path / "run", Heard())
    best, folder = tmp_path / "run" / "model.safetensors", tmp_path / "run" / "checkpoints"
    (only,) = folder.iterdir()
    spoil(only / "state.json")
    whole = best.read_bytes()
    with pytest.raises(CheckpointError) as error:
        resumed(tmp_path / "run")
    first, second, *cures = str(error.value).splitlines()
    assert first == f"No checkpoint in {folder} can be trusted:"
    assert second.startswith("  - step-00000012: state.json is ")
    assert cures == [
        f"{best} is not one of them: `sublayer predict {best.parent}` answers with it.",
        f"To train from the beginning remove {folder} and --resume. With train.keep=2 there is an older one to go back "
        "to.",
    ]
    assert best.read_bytes() == whole and len(list(sublayer.load(tmp_path / "run").predict(["ab"]))) == 1
    shutil.rmtree(folder)
    assert "it starts from the beginning" in " ".join(resumed(tmp_path / "run").messages)
    assert best.read_bytes() == whole


def test_what_a_cut_off_save_has_left_is_swept_away(two):
    names = {path.name for path in two.iterdir()}
    (two / ".model.safetensors.part").mkdir()
    (two / ".recipe.yaml.part").write_text("half", "utf-8")
    (two / "checkpoints" / ".step-00000001.gone").mkdir()
    resumed(two)
    assert {path.name for path in two.iterdir()} == names
    assert not list((two / "checkpoints").glob(".*"))


def test_the_place_in_the_data_is_kept_with_the_checkpoint(two):
    state = json.loads((two / "checkpoints" / "step-00000008" / "state.json").read_text("utf-8"))
    assert [state["position"]["extra"][key][1] for key in ("data.train", "data.valid")] == [60, 20]
    assert state["position"]["extra"]["train.batch_tokens"] == 64
