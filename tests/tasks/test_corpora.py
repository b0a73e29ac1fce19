import pytest
from tests.runs import TINY, Heard, words, write_pairs

from sublayer.errors import ConfigError, DataError
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

WORDS = words()
POWERS = {"noise": {"drop": 0.1, "blank": 0.1, "mix": 1}}


def recipe(folder, train=None, **data):
    files = {"train": str(folder / "train.tsv"), "valid": str(folder / "valid.tsv")}
    settings = dict(steps=12, batch_tokens=64, warmup=2, log_every=1, validate_every=6, save_every=6)
    values = {"data": files | data, "model": TINY, "train": settings | {"validate_metrics": []} | (train or {})}
    values["text"] = {"source": {"kind": "char"}, "target": {"kind": "char"}}
    return make_recipe(values, origin="a test")


@pytest.fixture
def files(tmp_path):
    write_pairs(tmp_path / "train.tsv", WORDS[:60])
    write_pairs(tmp_path / "more.tsv", WORDS[60:90])
    write_pairs(tmp_path / "valid.tsv", WORDS[90:110])
    return tmp_path


def more(files, **options):
    return [{"train": str(files / "more.tsv")} | options]


class Dies(Heard):
    def step(self, progress):
        super().step(progress)
        if progress.step == 9:
            raise KeyboardInterrupt


def weights(run):
    return (run / "model.safetensors").read_bytes()


def test_ids_in_a_file_change_nothing(files):
    heard = {name: Heard() for name in ("held", "stored")}
    fit(recipe(files, POWERS, more=more(files, weight=2)), files / "held", heard["held"])
    fit(recipe(files, POWERS, more=more(files, weight=2), store=str(files / "ids")), files / "stored", heard["stored"])
    assert weights(files / "held") == weights(files / "stored")
    assert heard["held"].messages == heard["stored"].messages
    assert len(list((files / "ids").iterdir())) == 2


def test_the_file_is_found_again_until_the_texts_change(files):
    def ids():
        fit(recipe(files, store=str(files / "ids")), files / str(len(list(files.iterdir()))), Heard())
        return {path.name: path.stat().st_mtime_ns for path in (files / "ids").iterdir()}

    first = ids()
    assert len(first) == 1 and ids() == first
    write_pairs(files / "train.tsv", WORDS[1:61])
    assert len(ids()) == 2


def test_a_resumed_run_hears_the_same_noise(files):
    asked = recipe(files, POWERS, more=more(files, weight=3), temperature=2.0, store=str(files / "ids"))
    whole = Heard()
    fit(asked, files / "whole", whole)
    with pytest.raises(KeyboardInterrupt):
        fit(asked, files / "run", Dies())
    fit(asked, files / "run", Heard(), resume=True)
    assert weights(files / "run") == weights(files / "whole")
    assert (files / "run" / "metrics.jsonl").read_bytes() == (files / "whole" / "metrics.jsonl").read_bytes()


def test_noise_is_heard_in_training_alone(files):
    fit(recipe(files), files / "clean", Heard())
    fit(recipe(files, POWERS), files / "noisy", Heard())
    assert weights(files / "clean") != weights(files / "noisy")


def test_what_is_left_out_is_told(files):
    heard = Heard()
    write_pairs(files / "train.tsv", [*WORDS[:60], WORDS[0], "a" * 50])
    fit(recipe(files, filter={"longest": 20, "repeated": True}), files / "run", heard)
    assert heard.messages[0] == f"{files / 'train.tsv'}: 60 pairs, 2 left out"
    assert heard.messages[1:3] == [
        "  line 61: the same pair came before",
        "  line 62: 50 characters, and 20 are the most",
    ]


def test_a_prefix_stands_before_each_source_of_its_corpus(files):
    heard = Heard()
    task = fit(recipe(files, more=more(files, prefix="> > ")), files / "run", heard)
    assert heard.messages[0].startswith(f"{files / 'train.tsv'}, {files / 'more.tsv'}: 90 pairs")
    assert {">", " "} <= set(task.source.vocabulary)


def test_bad_lines_of_a_further_corpus_stop_the_run(files):
    (files / "more.tsv").write_text("a\tb\nabc\n", encoding="utf-8")
    with pytest.raises(DataError, match="more.tsv: 1 of 2 lines cannot be read"):
        fit(recipe(files, more=more(files)), files / "run", Heard())
    assert not (files / "run").exists()


def test_a_script_is_one_that_is_known():
    with pytest.raises(ConfigError, match="data.filter.scripts"):
        make_recipe({"data": {"filter": {"scripts": ["latin", "klingon"]}}}, origin="a test")
