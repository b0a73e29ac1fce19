import pytest

from sublayer.errors import ConfigError
from sublayer.tasks.recipe_file import make_recipe
from sublayer.tasks.space import Choice, Range, options, read_space, words


def read(folder, text, recipe=None):
    (folder / "space.yaml").write_text(text, encoding="utf-8")
    return read_space(folder / "space.yaml", recipe or {})


def problems(folder, text, recipe=None):
    with pytest.raises(ConfigError) as error:
        read(folder, text, recipe)
    title, *told = str(error.value).splitlines()
    assert title == f"{folder / 'space.yaml'}:"
    return [line.removeprefix("  - ") for line in told]


def test_choices_and_ranges(tmp_path):
    space = read(
        tmp_path,
        """
        train.learning_rate: {low: 1e-4, high: 1e-2, log: true}
        model.encoder_layers: {low: 1, high: 5, step: 2}
        model.d_model: {low: 16, high: 256, step: 1, log: true}
        model.dropout: {low: 0.1, high: 0.4, step: 0.1}
        text.source.kind: [char, bpe]
        train.betas: [[0.9, 0.98], [0.9, 0.999]]
        model.position: [{kind: rotary}, sinusoidal]
        """,
    )
    assert space == {
        "train.learning_rate": Range(low=1e-4, high=1e-2, log=True),
        "model.encoder_layers": Range(low=1, high=5, step=2),
        "model.d_model": Range(low=16, high=256, step=1, log=True),
        "model.dropout": Range(low=0.1, high=0.4, step=0.1),
        "text.source.kind": Choice(("char", "bpe")),
        "train.betas": Choice(([0.9, 0.98], [0.9, 0.999])),
        "model.position": Choice(({"kind": "rotary"}, "sinusoidal")),
    }
    whole = {key for key, drawn in space.items() if isinstance(drawn, Range) and drawn.whole}
    assert whole == {"model.encoder_layers", "model.d_model"}


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    assert problems(
        tmp_path,
        """
        train.learning_rat: [1, 2]
        trian.steps: [1]
        train.steps: [10, -5, many]
        train.warmup: {low: 1, high: 9}
        train.ema: {low: 0.5, high: 1.5}
        train.clip: {low: 2, high: 1}
        train.eps: {low: 0, high: 1, log: true}
        train.rise: {low: 0, high: 1, step: 0.3}
        train.keep: {low: 1, high: 4, step: 0}
        train.patience: {low: 1, high: 64, step: 2, log: true}
        train.seed: {low: one, hihg: 3}
        train.accumulate: 3
        train.lora.rank: []
        model.d_model.width: [1]
        data.valid: [a.tsv, b.tsv]
        """,
        {"model": {"d_model": 64}},
    ) == [
        "train.clip: low is 2 and high is 1: low has to be less",
        "train.eps: log needs a low above 0, not 0",
        "train.rise: high is not reached from 0 in steps of 0.3",
        "train.keep: step has to be above 0, not 0",
        "train.patience: with log the only step is 1, of whole numbers",
        "train.seed.low: a number is needed, not 'one'",
        "train.seed.high: Field required",
        "train.seed.hihg: a range has low, high, log and step",
        "train.accumulate: a list of choices, or {low: …, high: …}, is needed, not 3",
        "train.lora.rank: a list of choices, or {low: …, high: …}, is needed, not []",
        "data.valid: trials are compared by it, so it stays the same: set it in the recipe",
        "train.learning_rat: there is no such key. Did you mean 'learning_rate'?",
        "trian: there is no such key. Did you mean 'train'?",
        "train.steps: Input should be greater than or equal to 1 (got -5)",
        "train.steps: Input should be a valid integer, unable to parse string as an integer (got 'many')",
        "train.warmup: it is a whole number: write whole numbers, with step: 1 where they are a range",
        "train.ema: Input should be less than 1 (got 1.5)",
        "model.d_model.width: there is no such key: sections and a key, joined by dots, are needed",
    ]


def test_an_empty_file_gets_an_example(tmp_path):
    (said,) = problems(tmp_path, "")
    assert said == "there is no key in it: write for example train.learning_rate: {low: 1e-4, high: 1e-2, log: true}"


def test_what_may_be_right_together_is_no_problem(tmp_path):
    recipe = {"model": {"d_model": 64, "num_heads": 4}}
    assert set(read(tmp_path, "model.d_model: [64, 100]\nmodel.num_heads: [4, 5]", recipe)) == {
        "model.d_model",
        "model.num_heads",
    }


def test_settings_are_spelt_so_that_train_reads_the_same():
    settings = {
        "train.learning_rate": 0.00012345678901234567,
        "train.betas": [0.9, 0.999],
        "text.source.kind": "bpe",
        "data.store": "a b: c",
        "train.device": "null",
        "model.position": {"kind": "rotary"},
        "train.tensorboard": False,
    }
    recipe = make_recipe({}, words(settings), origin="a test")
    assert recipe.train.learning_rate == settings["train.learning_rate"] and recipe.train.betas == (0.9, 0.999)
    assert (recipe.text.source.kind, recipe.data.store, recipe.train.device) == ("bpe", "a b: c", "null")
    assert recipe.model.position.kind == "rotary" and recipe.train.tensorboard is False
    assert options({"data.store": "a b: c", "model.dropout": 0.1}) == (
        """--set 'data.store="a b: c"' --set model.dropout=0.1"""
    )
