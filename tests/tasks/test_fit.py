import json

import pytest
import torch
from tests.runs import SPLIT, Heard, tiny_recipe, words, write_pairs

from sublayer.data import read_lines
from sublayer.errors import CheckpointError, ConfigError, DataError
from sublayer.models.store import load_tensors
from sublayer.tasks.bundle import load
from sublayer.tasks.fit import fit
from sublayer.tasks.prepare import prepare
from sublayer.tasks.recipe_file import make_recipe, read_recipe

WORDS = words()


@pytest.fixture
def train(tmp_path):
    return write_pairs(tmp_path / "train.tsv", WORDS[:60])


@pytest.fixture
def valid(tmp_path):
    return write_pairs(tmp_path / "valid.tsv", WORDS[60:80])


def test_a_run_folder_holds_all_that_a_run_is(tmp_path, train, valid):
    heard = Heard()
    recipe = tiny_recipe(train, valid, validate_metrics=["exact"], metric="exact")
    task = fit(recipe, tmp_path / "runs" / "a", heard)
    names = {path.relative_to(tmp_path / "runs" / "a").as_posix() for path in (tmp_path / "runs" / "a").rglob("*")}
    assert names == {
        "recipe.yaml",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "target_tokenizer.json",
        "task.json",
        "metrics.jsonl",
        "samples",
        "samples/valid.tsv",
        "checkpoints",
        "checkpoints/step-00000010",
        *(
            f"checkpoints/step-00000010/{n}"
            for n in ("model.safetensors", "state.json", "state.safetensors", "SHA256SUMS")
        ),
    }
    assert heard.messages == [f"{train}: 60 pairs, 0 left out", f"{valid}: 20 pairs, 0 left out"]
    lines = [json.loads(line) for line in read_lines(tmp_path / "runs" / "a" / "metrics.jsonl")]
    assert lines == heard.records
    assert [line["step"] for line in lines if "valid_exact" in line] == [4, 8, 10]
    assert not task.model.training
    again = load(tmp_path / "runs" / "a")
    assert list(again.predict(WORDS[:5])) == list(task.predict(WORDS[:5]))


def test_its_recipe_is_whole_and_gives_the_same_run_again(tmp_path, train, valid):
    fit(tiny_recipe(train, valid), tmp_path / "a", Heard())
    recipe = read_recipe(tmp_path / "a" / "recipe.yaml")
    assert recipe.model.source_vocab == recipe.model.target_vocab == 9
    assert recipe.train.label_smoothing == 0.1 and recipe.data.skip_bad is False
    heard = Heard()
    fit(recipe, tmp_path / "b", heard)
    for file in ("recipe.yaml", "model.safetensors", "metrics.jsonl", "config.json", "tokenizer.json"):
        assert (tmp_path / "b" / file).read_bytes() == (tmp_path / "a" / file).read_bytes()


def test_samples_are_the_newest_answers_with_their_targets(tmp_path, train):
    valid = tmp_path / "valid.tsv"
    valid.write_text("ab\tba\ncd\tdc\nab\tBA\n", encoding="utf-8")
    fit(tiny_recipe(train, valid, validate_metrics=["exact"], validate_pairs=1), tmp_path / "run", Heard())
    (line,) = read_lines(tmp_path / "run" / "samples" / "valid.tsv")
    source, _, *targets = line.split("\t")
    assert (source, targets) == ("ab", ["ba", "BA"])  # one source, with all of its targets


def test_the_best_weights_are_those_that_are_kept(tmp_path, train, valid):
    task = fit(tiny_recipe(train, valid, steps=12, learning_rate=0.3, schedule="constant"), tmp_path / "run", Heard())
    lines = [json.loads(line) for line in read_lines(tmp_path / "run" / "metrics.jsonl")]
    scores = {line["step"]: line["valid_loss"] for line in lines if "valid_loss" in line}
    assert lines[-1]["best"] == min(scores.values())
    assert scores[lines[-1]["best_step"]] == lines[-1]["best"]
    kept = load_tensors(tmp_path / "run" / "model.safetensors")
    for name, tensor in task.model.state_dict().items():
        if name in kept:
            assert torch.equal(tensor, kept[name])


def test_without_validation_it_says_which_weights_are_kept(tmp_path, train):
    heard = Heard()
    fit(tiny_recipe(train), tmp_path / "run", heard)
    assert "data.valid is not set: the last weights are kept, not the best." in heard.messages


def test_other_seeds_give_other_runs(tmp_path, train):
    weights = []
    for n, seed in enumerate((1, 1, 2)):
        fit(tiny_recipe(train, seed=seed), tmp_path / str(n), Heard())
        weights.append((tmp_path / str(n) / "model.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]


def test_a_folder_that_holds_a_run_is_left_alone(tmp_path, train):
    fit(tiny_recipe(train), tmp_path / "run", Heard())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match="run holds a run already. Continue it with --resume, or choose"):
        fit(tiny_recipe(train), tmp_path / "run", Heard())
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_nothing_is_written_where_the_data_or_the_machine_do_not_fit(tmp_path, train, valid):
    learned = {"position": "learned", "max_len": 4}
    bad = tmp_path / "bad.tsv"
    bad.write_text("a\tb\tc\n", encoding="utf-8")
    long = write_pairs(tmp_path / "long.tsv", ["a", "abcd"])
    short = write_pairs(tmp_path / "short.tsv", ["ab", "a"])
    for recipe, error, told in (
        (tiny_recipe(bad), DataError, "bad.tsv: 1 of 1 lines cannot be read"),
        (tiny_recipe(tmp_path / "none.tsv"), DataError, "none.tsv cannot be read: No such file"),
        (tiny_recipe(train, tmp_path / "none.tsv"), DataError, "none.tsv cannot be read: No such file"),
        (tiny_recipe(long, model=learned), DataError, "long.tsv: Longer than the 4 .*\n  - line 2: 5 tokens"),
        (tiny_recipe(short, long, model=learned), DataError, "long.tsv: Longer than the 4 .*\n  - line 2: 5 tokens"),
        (tiny_recipe(train, device="gpu"), ConfigError, "train.device 'gpu' is not there: .* Write auto, or cpu"),
        (make_recipe({}, origin="o"), ConfigError, "data.train is not set: name a file of pairs"),
    ):
        with pytest.raises(error, match=told):
            fit(recipe, tmp_path / "run", Heard())
        assert not (tmp_path / "run").exists()


def test_what_is_left_out_is_told_line_by_line(tmp_path):
    train = tmp_path / "train.tsv"
    train.write_text("ab\tba\n\tx\nno tab\n" + "cd\tdc\n", encoding="utf-8")
    recipe = tiny_recipe(train)
    recipe.data.skip_bad = True
    heard = Heard()
    prepare(recipe, heard)
    assert heard.messages[:2] == [f"{train}: 2 pairs, 2 left out", "  line 2: empty source"]
    assert heard.messages[2].startswith("  line 3: 1 column, expected 2 (tab-separated)")


def test_columns_and_parallel_files_give_the_same_run(tmp_path):
    some = WORDS[:30]
    write_pairs(tmp_path / "a.tsv", some)
    (tmp_path / "wide.tsv").write_text("".join(f"{w[::-1]}\tx\t{w}\n" for w in some), encoding="utf-8")
    (tmp_path / "a.src").write_text("".join(f"{w}\n" for w in some), encoding="utf-8")
    (tmp_path / "a.trg").write_text("".join(f"{w[::-1]}\n" for w in some), encoding="utf-8")
    recipes = [tiny_recipe(tmp_path / "a.tsv"), tiny_recipe(tmp_path / "wide.tsv"), tiny_recipe(tmp_path / "a.src")]
    recipes[1].data.columns = (3, 1)
    recipes[2].data.train.append(str(tmp_path / "a.trg"))
    for n, recipe in enumerate(recipes):
        fit(recipe, tmp_path / str(n), Heard())
    assert len({(tmp_path / str(n) / "model.safetensors").read_bytes() for n in range(3)}) == 1


@pytest.mark.parametrize(
    "model",
    [
        {"position": "rotary", "norm": "rmsnorm", "ffn": "swiglu", "bias": False, "num_kv_heads": 1},
        {"position": "relative", "norm_first": False, "activation": "gelu"},
        {"position": "alibi", "encoder_layers": 2, "attention_dropout": 0.1},
        {"position": "learned", "max_len": 9, "tie": "none", "kernel": "eager"},
    ],
    ids=lambda model: model["position"],
)
def test_every_kind_of_model_trains_and_is_loaded_again(tmp_path, train, valid, model):
    heard = Heard()
    task = fit(tiny_recipe(train, valid, model=model), tmp_path / "run", heard)
    losses = [line["valid_loss"] for line in heard.records if "valid_loss" in line]
    assert losses[-1] < losses[0]
    assert list(load(tmp_path / "run").predict(WORDS[:9])) == list(task.predict(WORDS[:9]))


@pytest.mark.parametrize(
    "text",
    [
        SPLIT,
        {"source": {"kind": "word"}, "target": {"kind": "bpe", "vocab_size": 270}},
        {"source": {"kind": "unigram", "vocab_size": 270}, "target": {"kind": "wordpiece"}},
        {"shared": True, "source": {"kind": "char"}},
    ],
)
def test_every_kind_of_token_trains(tmp_path, train, text):
    task = fit(tiny_recipe(train, text=text, steps=2), tmp_path / "run", Heard())
    assert len(list(task.predict(WORDS[:3]))) == 3


def test_features_have_no_position(tmp_path):
    train = tmp_path / "train.tsv"
    train.write_text("".join(f"{w}#V;PST;SG\t{w}d\n" for w in WORDS[:30]), encoding="utf-8")
    text = {"source": {"kind": "features"}, "target": {"kind": "char"}}
    task = fit(tiny_recipe(train, text=text), tmp_path / "run", Heard())
    assert task.config.first_feature == task.source.first_feature
    pairs = task.predict(["abc#V;PST;SG", "abc#SG;V;PST"])
    assert len({round(found[0].logp, 4) for found in pairs}) == 1  # a set has no order


def test_resuming_needs_a_run(tmp_path, train):
    with pytest.raises(CheckpointError, match="nowhere holds no run to continue: start one without --resume"):
        fit(tiny_recipe(train), tmp_path / "nowhere", Heard(), resume=True)
    assert not (tmp_path / "nowhere").exists()


def test_a_resumed_run_keeps_its_recipe_and_says_what_differs(tmp_path, train):
    fit(tiny_recipe(train), tmp_path / "run", Heard())
    with pytest.raises(ConfigError) as error:
        fit(tiny_recipe(train, steps=20, model={"d_ff": 64}), tmp_path / "run", Heard(), resume=True)
    assert str(error.value) == (
        f"A resumed run keeps its recipe. To change it all the same, edit {tmp_path / 'run' / 'recipe.yaml'}. "
        "Asked for now:\n  - model.d_ff: 64, and 32 in the run\n  - train.steps: 20, and 10 in the run"
    )


def test_a_finished_run_has_nothing_left_to_do(tmp_path, train, valid):
    fit(tiny_recipe(train, valid), tmp_path / "run", Heard())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    heard = Heard()
    fit(make_recipe({}, origin="o"), tmp_path / "run", heard, resume=True)
    assert heard.messages[-2:] == [
        "Continuing from step-00000010.",
        "Nothing is left to do: the run ended at step 10.",
    ]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
