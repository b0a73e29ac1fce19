"""G31, G32 and G38, every task: bytes of a file, characters of a text and keys of a recipe mean one thing."""

import codecs

import pytest
from tests.every_task import EVERY, recipe
from tests.runs import Heard

from sublayer.errors import ConfigError
from sublayer.tasks.prepare import prepare
from sublayer.tasks.recipe_file import make_recipe

every = pytest.mark.parametrize("name", EVERY)
AS_BYTES = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "no end": lambda text: text.rstrip("\n").encode(),
}


@every
@pytest.mark.parametrize("kind", AS_BYTES)
def test_the_same_text_gives_the_same_examples(tmp_path, name, kind):
    asked = recipe(name, tmp_path)
    expected = prepare(asked, Heard())
    for file in ("train.txt", "valid.txt"):
        (tmp_path / file).write_bytes(AS_BYTES[kind]((tmp_path / file).read_text("utf-8")))
    found = prepare(asked, Heard())
    assert list(found.items.items) == list(expected.items.items)
    assert found.task.tokenizer.to_json() == expected.task.tokenizer.to_json()
    assert found.examples == expected.examples


@every
@pytest.mark.parametrize("odd", ["\u2028", "\u0085", "\v", "\f", "\x1c", "\r"], ids=ascii)
def test_only_a_line_feed_ends_a_line(tmp_path, name, odd):
    asked = recipe(name, tmp_path)
    path = tmp_path / "train.txt"
    path.write_bytes(path.read_bytes().replace(b"f e", f"f{odd}e".encode()).replace(b"f\tF", f"f{odd}e\tF".encode()))
    found = list(prepare(asked, Heard()).items.items)
    (tmp_path / "train.txt").write_bytes(path.read_bytes().replace(odd.encode(), b"_"))
    plain = list(prepare(asked, Heard()).items.items)
    assert len(found) == len(plain) and repr(odd)[1:-1] in repr(found)


@every
def test_a_misspelt_key_and_one_in_the_wrong_section(name):
    task, _, model = EVERY[name]
    values = {"task": task, "model": model | {"num_head": 2}, "train": {"learing_rate": 1e-3}, "data": {"steps": 3}}
    with pytest.raises(ConfigError) as error:
        make_recipe(values, origin="mine.yaml")
    told = str(error.value)
    assert "train.learing_rate: there is no such key. Did you mean 'learning_rate'?" in told
    assert "model.num_head: there is no such key. Did you mean 'num_heads'?" in told and "data.steps" in told
