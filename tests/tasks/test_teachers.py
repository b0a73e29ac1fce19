import pytest
from tests.runs import Heard, tiny_recipe, words, write_pairs

import sublayer
from sublayer.data import Pair
from sublayer.errors import ConfigError
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

WORDS = words()
BODY = dict(d_model=16, num_heads=2, d_ff=32, dropout=0.1)
TRAIN = dict(
    steps=8,
    batch_tokens=64,
    warmup=0,
    learning_rate=1e-2,
    log_every=1,
    validate_every=4,
    save_every=4,
    validate_metrics=[],
    metric="loss",
)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """A run that has learned to say 60 words as they are, and a file that turns them round."""
    folder = tmp_path_factory.mktemp("teacher")
    same = write_pairs(folder / "same.tsv", WORDS[:60], turn=str)
    fit(
        tiny_recipe(same, steps=120, batch_tokens=128, model=dict(d_model=24, dropout=0.0), learning_rate=5e-3),
        folder / "run",
        Heard(),
    )
    return folder / "run", write_pairs(folder / "train.tsv", WORDS[:60])


def apart(pupil, teacher, lines=WORDS[:60]):
    """How far the answers' log-probabilities are from those of the teacher."""
    pairs = [Pair(word, word[::-1], 1) for word in lines]
    ours, theirs = ([found.logp for found in task.score(pairs)] for task in (pupil, teacher))
    return sum(abs(a - b) for a, b in zip(ours, theirs, strict=True))


def test_a_pupil_comes_nearer_to_its_teacher_than_without(tmp_path, teacher):
    run, pairs = teacher
    settings = dict(steps=120, batch_tokens=128, label_smoothing=0.0, learning_rate=5e-3)
    taught = {"run": str(run), "weight": 1.0, "temperature": 2.0}
    alone = fit(tiny_recipe(pairs, **settings), tmp_path / "alone", Heard())
    pupil = fit(tiny_recipe(pairs, teacher=taught, **settings), tmp_path / "taught", Heard())
    known = sublayer.load(run)
    assert apart(pupil, known) < 0.8 * apart(alone, known)


def other_letters(folder):
    return tiny_recipe(write_pairs(folder / "other.tsv", words("xyz")[:60]))


def other_task(folder):
    (folder / "labels.tsv").write_text("".join(f"{word}\t{len(word)}\n" for word in WORDS[:60]), "utf-8")
    values = {"task": "classify", "data": {"train": str(folder / "labels.tsv")}}
    return make_recipe(values | {"model": BODY | {"encoder_layers": 1}, "train": TRAIN}, origin="a test")


def short(folder):
    return tiny_recipe(write_pairs(folder / "short.tsv", WORDS[:60]), model=dict(position="learned", max_len=16))


WRONG = {
    other_letters: "  - its tokenizer.json is another than here\n  - its target_tokenizer.json is another than here\n"
    "  - it has source: char, 7 tokens",
    other_task: "  - it is of task classify, not translate\nTrain both",
    short: "  - it reads 16 tokens at most, and this one inf\nTrain both",
}


@pytest.mark.parametrize("made", WRONG, ids=lambda made: made.__name__)
def test_a_teacher_that_reads_or_says_something_else_is_refused(tmp_path, teacher, made):
    run = tmp_path / "run"
    fit(made(tmp_path), run, Heard())
    with pytest.raises(ConfigError) as error:
        fit(tiny_recipe(teacher[1], teacher={"run": str(run)}), tmp_path / "taught", Heard())
    assert str(error.value).startswith(f"train.teacher: {run} cannot teach this run:\n{WRONG[made]}")
    assert str(error.value).endswith("on the same data.train, with the same sections text and labels.")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"teacher": {"run": "big"}, "r_drop": 1.0}, "teacher and r_drop are two losses: leave one of them out"),
        ({"r_drop": 1.0, "loss_chunk": 5}, "compare all scores of a batch at once: leave loss_chunk out"),
        ({"teacher": {"run": "big", "weight": 2}}, "train.teacher.weight: "),
    ],
)
def test_what_cannot_go_together_is_told(teacher, settings, said):
    with pytest.raises(ConfigError, match=said):
        tiny_recipe(teacher[1], **settings)


def test_tasks_without_classes_have_neither(tmp_path):
    for task in ("embed", "answer"):
        with pytest.raises(ConfigError, match=r"train.r_drop: there is no such key"):
            make_recipe({"task": task, "train": {"r_drop": 1}}, origin="a test")


def test_of_several_labels_a_text_there_is_no_distribution():
    with pytest.raises(ConfigError, match="are for one label a text: leave labels.several out"):
        make_recipe({"task": "classify", "labels": {"several": True}, "train": {"r_drop": 1}}, origin="a test")


def corpus(task, folder):
    file = folder / "corpus"
    text = {
        "classify": "".join(f"{word}\t{word[0]}\n" for word in WORDS[:40]),
        "tag": "".join(f"{word}\t{word[0]}\n" + "\n" * (i % 4 == 3) for i, word in enumerate(WORDS[:40])),
        "complete": " ".join(WORDS) + "\n",
        "fill": "".join(" ".join(WORDS[i : i + 5]) + "\n" for i in range(0, 100, 5)),
    }[task]
    file.write_text(text, "utf-8")
    return file


@pytest.mark.parametrize("task", ["classify", "tag", "complete", "fill"])
def test_every_task_with_classes_can_be_taught_and_pass_twice(tmp_path, task):
    """Without dropout two passes are one, and a teacher of no weight teaches nothing."""
    layers = {"complete": "decoder_layers"}.get(task, "encoder_layers")
    context = {"context": 8} if task == "complete" else {}
    values = {"task": task, "data": {"train": str(corpus(task, tmp_path))}, "text": {"kind": "char"}}
    values["model"] = BODY | {layers: 1, "dropout": 0.0}

    def losses(name, **more):
        heard = Heard()
        fit(make_recipe(values | {"train": TRAIN | context | more}, origin="a test"), tmp_path / name, heard)
        return [line["loss"] for line in heard.records if "loss" in line]

    alone, teacher = losses("alone"), {"run": str(tmp_path / "alone")}
    assert losses("twice", r_drop=2.0) == pytest.approx(alone, rel=1e-4)
    assert losses("hardly", teacher=teacher | {"weight": 1e-9}) == pytest.approx(alone, rel=1e-4)
    taught = losses("taught", teacher=teacher | {"weight": 1.0})
    assert taught[0] == pytest.approx(alone[0], rel=1e-4) and taught[-1] != pytest.approx(alone[-1], rel=1e-3)
