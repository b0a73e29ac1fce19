"""G12, tasks: a text longer than the model reads is refused with its line, read in parts, or cut where the recipe asks
for it; each of these is told, in training, in validation and afterwards."""

import pytest
from tests.runs import Heard, command

from sublayer.errors import DataError
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe

READS = 8
LONG = "a b c d e f g h i j k l"  # 12 tokens, and there are specials
WORDS = {"kind": "word"}
REFUSED, TOLD = "Longer than the 8 positions", "{file}: {n} longer than is read at once"


def classified(text):
    return f"a b\tx\n{text}\ty\n"


def tagged(text):
    return "a\tX\nb\tY\n\n" + "".join(f"{word}\tX\n" for word in text.split()) + "\n"


def asked(text):
    return f"b\ta b c\tb\t2\nb\t{text}\tb\t2\n"


CASES = {
    # what a file with such a text is, settings beside, what is told of it
    "classify": (classified, {}, f"{REFUSED} that the model learns:\n  - line 2: 14 tokens with specials"),
    "translate": (classified, {}, f"{REFUSED} that the model learns:\n  - line 2: 13 tokens with </s>"),
    "tag": (tagged, {}, "  sentence in line 4: 12 tokens, read in 3 windows"),
    "embed": (classified, {}, "  line 2: 12 tokens, read in 3 windows"),
    "embed, cut": (classified, {"vector": {"cut": True}}, "  line 2: 12 tokens, the last 6 left out"),
    "answer": (asked, {}, "  line 2: 12 tokens, read in 5 windows"),
    "fill": ("a b\n{}\n".format, {}, "  line 2: 12 tokens, read in 2 pieces"),
    "fill, spans": ("a b\n{} m\n".format, {}, "  line 2: 13 tokens, read in 2 pieces, the last 1 left out"),
}


PREDICT = {
    # what is asked, how many answers there are, what is said on stderr
    "classify": (LONG, 0, "line 1: 14 tokens with specials"),
    "translate": (LONG, 1, "line 1: 13 tokens with </s>, and the model reads 8"),
    "tag": (LONG, 12, ""),
    "embed": (LONG, 1, "line 1: 12 tokens, read in 3 windows"),
    "embed, cut": (LONG, 1, "line 1: 12 tokens, the last 6 left out"),
    "answer": (f"b\t{LONG}", 1, ""),
    "fill": (f"[MASK] {LONG}", 0, "line 1: 15 tokens with specials"),
    "fill, spans": (f"[MASK] {LONG}", 0, "line 1: 14 tokens with </s>, and the model reads 8"),
}


def recipe(folder, name, train, valid):
    task, (write, more, _) = name.split(",")[0], CASES[name]
    for file, text in (("train", train), ("valid", valid)):
        (folder / f"{file}.txt").write_text(write(text), encoding="utf-8")
    text = {"source": WORDS, "target": WORDS} if task == "translate" else WORDS
    model = dict(d_model=8, num_heads=2, encoder_layers=1, position="learned", max_len=READS)
    model |= dict(decoder_layers=1) if task == "translate" or "spans" in name else {}
    model |= dict(architecture="encoder-decoder") if "spans" in name else {}
    steps = dict(steps=1, batch_tokens=32, validate_every=1, save_every=1)
    data = {file: str(folder / f"{file}.txt") for file in ("train", "valid")}
    return make_recipe({"task": task, "data": data, "text": text, "model": model, "train": steps} | more, origin="here")


@pytest.mark.parametrize("name", CASES)
def test_in_training_validation_and_evaluation(name, tmp_path):
    said = CASES[name][-1]
    if said.startswith(REFUSED):
        for texts in ((LONG, "a b"), ("a b", LONG)):
            file = "train" if texts[0] == LONG else "valid"
            with pytest.raises(DataError) as error:
                fit(recipe(tmp_path, name, *texts), tmp_path / "run", Heard())
            assert f"{file}.txt: {said}" in str(error.value)
            assert not (tmp_path / "run").exists()
        return
    heard = Heard()
    fit(recipe(tmp_path, name, LONG, LONG), tmp_path / "run", heard)
    for file in ("train", "valid"):
        at = heard.messages.index(TOLD.format(file=tmp_path / f"{file}.txt", n=1))
        assert heard.messages[at + 1] == said
    told = command("evaluate", tmp_path / "run", tmp_path / "valid.txt", "--bootstrap", "0")
    assert told.code == 0 and said in told.err.splitlines(), told.err
    short = Heard()
    fit(recipe(tmp_path, name, "a b", "a b"), tmp_path / "short", short)
    assert not [line for line in short.messages if "longer than" in line]


@pytest.mark.parametrize("name", CASES)
def test_in_answers(name, tmp_path):
    given, answers, said = PREDICT[name]
    fit(recipe(tmp_path, name, "a b", "a b"), tmp_path / "run", Heard())
    told = command("predict", tmp_path / "run", stdin=f"{given}\n".encode())
    assert said in told.err and (told.code == 0) == (not said or name.startswith("embed")), told.err
    lines = told.out.splitlines()
    assert (len(lines[0].split()) if name == "tag" else len(lines)) == answers
    short = given.replace(LONG, "a")
    (tmp_path / "asked.txt").write_text(f"{short}\n{short}\n{given}\n{short}\n", encoding="utf-8")
    told = command("predict", tmp_path / "run", tmp_path / "asked.txt", "--shard", "2/2")
    assert said.replace("line 1", "line 3") in told.err, told.err
    told = command("predict", tmp_path / "run", tmp_path / "asked.txt", "--out", tmp_path / "said.txt")
    assert said.replace("line 1", "line 3") in told.err, told.err


def test_a_word_that_is_longer_than_the_model_reads(tmp_path):
    asked = recipe(tmp_path, "tag", "a b", "a b").model_dump(exclude_unset=True) | {"text": {"kind": "char"}}
    task = fit(make_recipe(asked, origin="here"), tmp_path / "run", Heard())
    with pytest.raises(DataError, match="sentence 4: word 2 is 9 tokens and the model reads 6 at a time"):
        list(task.predict(["a", "b", "a b", "b ababababa"], window=2))


def test_the_texts_that_are_searched_are_told_apart(tmp_path):
    fit(recipe(tmp_path, "embed", "a b", "a b"), tmp_path / "run", Heard())
    (tmp_path / "asked.txt").write_text(f"a\n{LONG}\n", encoding="utf-8")
    (tmp_path / "there.txt").write_text(f"b\n\n{LONG}\n", encoding="utf-8")
    told = command("predict", tmp_path / "run", tmp_path / "asked.txt", "--nearest", tmp_path / "there.txt")
    windows = "12 tokens, read in 3 windows"
    assert told.err.splitlines() == [f"of the texts that are searched, line 3: {windows}", f"line 2: {windows}"]
    assert told.out.splitlines()[1] == LONG


def test_a_prompt_of_which_the_beginning_is_out_of_sight(tmp_path):
    (tmp_path / "text.txt").write_text("abcd " * 20, encoding="utf-8")
    train = dict(steps=1, context=READS, batch_tokens=32)
    model = dict(d_model=8, num_heads=2, decoder_layers=1)
    values = {"data": {"train": str(tmp_path / "text.txt")}, "model": model, "train": train}
    fit(make_recipe({"task": "complete"} | values, origin="here"), tmp_path / "run", Heard())
    (tmp_path / "asked.txt").write_text("abcd\nabcd abcd\n", encoding="utf-8")
    told = command("predict", tmp_path / "run", tmp_path / "asked.txt")
    assert told.code == 0 and told.err.splitlines() == ["line 2: 10 tokens, the first 2 out of sight"]
    told = command("predict", tmp_path / "run", tmp_path / "asked.txt", "--shard", "2/2")
    assert told.err.splitlines() == ["line 2: 10 tokens, the first 2 out of sight"]
