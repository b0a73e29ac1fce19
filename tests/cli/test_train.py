import pytest
from tests.runs import command, words, write_pairs

from sublayer.tasks.recipe_file import read_recipe

SMALL = [
    word
    for setting in (
        "train.steps=2",
        "train.warmup=0",
        "train.validate_metrics=[]",
        "model.d_model=8",
        "model.num_heads=2",
        "model.encoder_layers=1",
        "model.decoder_layers=1",
    )
    for word in ("--set", setting)
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path / "a.tsv", words()[:30])
    write_pairs(tmp_path / "b.tsv", words()[30:36])
    (tmp_path / "r.yaml").write_text("data: {train: a.tsv}\n", encoding="utf-8")
    return tmp_path


def test_a_recipe_and_options_make_the_same_run(folder):
    assert command("train", "r.yaml", *SMALL, "--out", "one").code == 0
    assert command("train", "--task", "translate", "--train", "a.tsv", *SMALL, "--out", "two").code == 0
    for file in ("recipe.yaml", "model.safetensors", "config.json"):
        assert (folder / "one" / file).read_bytes() == (folder / "two" / file).read_bytes()


def test_a_recipe_has_a_folder_of_its_name(folder):
    assert command("train", "r.yaml", *SMALL).code == 0
    assert (folder / "runs" / "r" / "model.safetensors").exists()
    said = command("train", "r.yaml", "--resume")
    assert said.code == 0 and "Nothing is left to do: the run ended at step 2." in said.err
    said = command("train", "r.yaml", *SMALL)
    assert said.code == 2 and "runs/r holds a run already" in said.err


def test_files_go_over_those_of_the_recipe(folder):
    assert command("train", "r.yaml", "--train", "b.tsv", "--valid", "a.tsv", *SMALL, "--out", "run").code == 0
    data = read_recipe(folder / "run" / "recipe.yaml").data
    assert (data.train, data.valid) == (["b.tsv"], ["a.tsv"])


def test_train_given_twice_is_two_parallel_files(folder):
    (folder / "a.src").write_text("ab\ncd\n", encoding="utf-8")
    (folder / "a.trg").write_text("ba\ndc\n", encoding="utf-8")
    said = command("train", "--train", "a.src", "--train", "a.trg", *SMALL, "--out", "run")
    assert said.code == 0 and "a.src + a.trg: 2 pairs, 0 left out" in said.err
    said = command("train", *["--train", "a.src"] * 3, "--out", "other")
    assert said.code == 2 and "one file of pairs, or a source file and a target file, not 3 files" in said.err


def test_bad_lines_stop_the_run_or_are_left_out(folder):
    (folder / "c.tsv").write_text("a\tb\nc\nd\te\n", encoding="utf-8")
    said = command("train", "--train", "c.tsv", *SMALL, "--out", "run")
    assert said.code == 2 and "line 2: 1 column, expected 2" in said.err and not (folder / "run").exists()
    said = command("train", "--train", "c.tsv", "--skip-bad", *SMALL, "--out", "run")
    assert said.code == 0 and "c.tsv: 2 pairs, 1 left out" in said.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "Nothing to learn from: name a recipe, or a file of pairs with --train."),
        (("--train", "a.tsv"), "Say where the run is: --out DIR."),
        (("--resume",), "Say where the run is: --out DIR."),
        (("--resume", "--out", "nowhere"), "nowhere holds no run to continue: start one without --resume."),
        (("nowhere.yaml",), "nowhere.yaml cannot be read as a recipe: No such file or directory"),
        (("a.tsv",), "a.tsv"),
        (("--train", "nowhere.tsv", "--out", "run"), "nowhere.tsv cannot be read: No such file or directory"),
        (("--train", "a.tsv", "--task", "transalte", "--out", "run"), "task 'transalte'. Did you mean 'translate'?"),
        (("r.yaml", "--task", "juggle", "--out", "run"), "r.yaml:\n  - task: there is no task 'juggle'. Known: "),
        (("r.yaml", "--out", "a.tsv", *SMALL), "File exists: a.tsv"),
        (("r.yaml", "--set", "steps", "--out", "run"), "--set 'steps': write section.key=value, for example"),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_is_said_on_stderr_with_exit_code_2(folder, args, words):
    said = command("train", *args)
    assert (said.code, said.out) == (2, "")
    assert words in said.err and "Traceback" not in said.err
    assert not (folder / "run").exists()


def test_an_empty_file_is_no_file_to_learn_from(folder):
    (folder / "empty.tsv").write_bytes(b"")
    said = command("train", "--train", "empty.tsv", "--out", "run")
    assert said.code == 2 and "empty.tsv: no pair is left of 0 lines" in said.err


def test_a_resumed_run_refuses_another_recipe(folder):
    command("train", "r.yaml", *SMALL, "--out", "run")
    said = command("train", "--resume", "--out", "run", "--set", "train.steps=9")
    assert said.code == 2 and "A resumed run keeps its recipe." in said.err
    assert "train.steps: 9, and 2 in the run" in said.err
    assert command("train", "r.yaml", *SMALL, "--resume", "--out", "run").code == 0


def test_stopped_by_hand_it_says_how_to_go_on(folder, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sublayer.train.trainer.Trainer.run", stop)
    said = command("train", "r.yaml", *SMALL, "--out", "run")
    assert said.code == 130 and "Stopped. Go on with: sublayer train --resume --out run\n" in said.err


def test_what_was_picked_is_told(folder):
    said = command("train", "--train", "a.tsv", "--set", "train.steps=1", "--set", "model.d_model=8", "--out", "run")
    assert "text.source: char, since a text has 1.0 words on average\n" in said.err
    assert "model: 2 + 2 layers of width 8, dropout 0.3, for 30 pairs\n" in said.err
    assert "train: 1 updates of 2,048 tokens, best by loss" in said.err
