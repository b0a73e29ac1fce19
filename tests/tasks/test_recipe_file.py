import pytest

from sublayer.errors import ConfigError
from sublayer.tasks.recipe import Recipe
from sublayer.tasks.recipe_file import differences, make_recipe, parse, read_recipe, read_yaml, write_recipe


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E+3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-3", -3),
        ("0o17", 15),
        ("0x1f", 31),
        ("017", 17),
        ("089", 89),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("Off", "Off"),
        ("true", True),
        ("False", False),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("2026-01-02", "2026-01-02"),
        ("~", None),
        ("null", None),
        ("", None),
        ("<<", "<<"),
        (".inf", float("inf")),
        ("'1e-3'", "1e-3"),
    ],
)
def test_yaml_is_version_1_2(text, value):
    found = parse(text, "here")
    assert found == value and type(found) is type(value)


def test_what_is_no_yaml_names_its_origin_and_line():
    with pytest.raises(ConfigError, match=r"here is not YAML: (?s:.*)line 2"):
        parse("a: 1\nb: [", "here")


def test_a_file_is_read_whatever_its_line_ends_and_mark(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_bytes("\ufefftrain:\r\n  steps: 7 # größer\r\n".encode())
    assert read_recipe(path).train.steps == 7


@pytest.mark.parametrize("content", [b"", b"# nothing\n"])
def test_an_empty_file_is_an_empty_recipe(tmp_path, content):
    (tmp_path / "r.yaml").write_bytes(content)
    assert read_recipe(tmp_path / "r.yaml") == Recipe()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"- a\n", "a recipe is sections with keys, not list"),
        (b"word\n", "a recipe is sections with keys, not str"),
        (b"\xff\n", "cannot be read as a recipe: .*utf-8"),
        (None, "r.yaml cannot be read as a recipe: No such file or directory$"),
    ],
)
def test_what_is_no_recipe_is_told(tmp_path, content, words):
    if content is not None:
        (tmp_path / "r.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        read_yaml(tmp_path / "r.yaml")


def test_overrides_go_over_the_file_and_open_sections():
    recipe = make_recipe(
        {"train": {"steps": 7}}, ["train.steps=9", "search.beam=2", "model.position.kind=rotary"], origin="o"
    )
    assert (recipe.train.steps, recipe.search.beam, recipe.model.position.kind) == (9, 2, "rotary")
    assert make_recipe({}, ["data.train=[a.src, a.trg]"], origin="o").data.train == ["a.src", "a.trg"]
    assert make_recipe({}, ["data.train=a=b.tsv"], origin="o").data.train == ["a=b.tsv"]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("train.steps", "write section.key=value, for example train.steps=500"),
        ("task.name=1", "'task' is no section"),
        ("train.steps=[", "--set train.steps is not YAML"),
    ],
)
def test_overrides_that_cannot_be(override, words):
    with pytest.raises(ConfigError, match=words):
        make_recipe({"task": "translate"}, [override], origin="o")


def test_every_problem_is_told_at_once_with_its_key():
    values = {
        "train": {"stpes": 3, "learning_rate": "fast", "beam": 4},
        "search": {"beam": 1, "nbest": 2},
        "serach": {},
        "data": "a.tsv",
    }
    with pytest.raises(ConfigError) as error:
        make_recipe(values, origin="r.yaml")
    assert set(str(error.value).split("\n")) == {
        "r.yaml:",
        "  - data: a section with keys is needed, not 'a.tsv'.",
        "  - train.learning_rate: Input should be a valid number, unable to parse string as a number (got 'fast')",
        "  - train.stpes: there is no such key. Did you mean 'steps'?",
        "  - train.beam: there is no such key. Did you mean search.beam?",
        "  - search: nbest=2 is more than beam=1 can give: widen the beam",
        "  - serach: there is no such key. Did you mean 'search'?",
    }


def test_a_recipe_is_written_whole_and_read_back_as_it_is(tmp_path):
    recipe = make_recipe(
        {
            "data": {"train": ["größe.src", "b.trg"], "columns": [2, 3]},
            "model": {"position": {"kind": "rotary", "theta": 1e4}, "ffn": "swiglu", "dropout": 1e-3},
            "train": {"eps": 1e-9, "metric": "exact", "validate_metrics": ["exact"]},
            "text": {"target": {"kind": "split", "separator": "|"}},
        },
        origin="o",
    )
    write_recipe(recipe, tmp_path / "recipe.yaml")
    assert read_recipe(tmp_path / "recipe.yaml") == recipe
    written = (tmp_path / "recipe.yaml").read_bytes().decode("utf-8")
    assert "größe.src" in written and "label_smoothing: 0.1" in written and "\r" not in written
    assert [p.name for p in tmp_path.iterdir()] == ["recipe.yaml"]


def test_only_what_is_asked_for_can_differ():
    held = make_recipe(
        {"train": {"steps": 7}, "text": {"source": {"kind": "char"}}, "model": {"d_model": 64}}, origin="o"
    )
    same = {"train": {"steps": 7}, "text": {"source": {"kind": "auto"}}}
    assert differences(Recipe(), held) == differences(make_recipe(same, origin="o"), held) == []
    asked = make_recipe({"train": {"steps": 8}, "model": {"d_model": 64, "position": "rotary"}}, origin="o")
    assert differences(asked, held) == [
        "model.position.kind: 'rotary', and 'sinusoidal' in the run",
        "train.steps: 8, and 7 in the run",
    ]
