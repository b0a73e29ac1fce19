import random

import pytest
from tests.runs import words

from sublayer.data import Pair
from sublayer.errors import ConfigError
from sublayer.tasks.recipe_file import make_recipe
from sublayer.tasks.sizes import fill_in

draw = random.Random(0)
ONSETS, VOWELS = "B CH D F G HH JH K L M N P R S T Z".split(), "AA0 AE1 AH0 EH1 IY2 OW1 UW0".split()
NOUNS = [a + b for a in "cat dog bird tree house river stone cloud".split() for b in ("", "s", "ling", "hood", "ish")]


def sentence():
    return " ".join(draw.choices(NOUNS, k=draw.randint(4, 9))).capitalize() + "."


def phonemes():
    return " ".join(draw.choice(side) for _ in range(draw.randint(1, 4)) for side in (ONSETS, VOWELS))


def lemma():
    return draw.choice(NOUNS) + "#" + draw.choice(["V;PST", "V;V.PTCP;PRS", "N;PL", "N;SG;GEN"])


def digits():
    return " ".join(draw.choices("0123456789", k=draw.randint(2, 8)))


LOOKS = {
    "words to phonemes": (lambda: draw.choice(NOUNS), phonemes, "char", "split"),
    "sentences": (sentence, sentence, "bpe", "bpe"),
    "lemma and features to forms": (lemma, lambda: draw.choice(NOUNS), "features", "char"),
    "digits with spaces": (digits, digits, "split", "split"),
    "numbers": (lambda: digits().replace(" ", ""), lambda: digits().replace(" ", ""), "char", "char"),
    "Chinese sentences": (lambda: "".join(draw.choices("我你他喜欢看书和画", k=9)) + "。", sentence, "char", "bpe"),
    "sentences with a hash": (lambda: sentence() + " #tag; #other", sentence, "bpe", "bpe"),
}


def pairs(source, target, n=800):
    return [Pair(source(), target(), line) for line in range(1, n + 1)]


def filled(found, **values):
    return fill_in(make_recipe(values, origin="o"), found)


@pytest.mark.parametrize("look", LOOKS)
def test_the_kinds_of_tokens_are_seen_from_the_text(look):
    source, target, of_source, of_target = LOOKS[look]
    choices = filled(pairs(source, target))
    text = choices.recipe.text
    assert (text.source.kind, text.target.kind) == (of_source, of_target)
    assert [line.split(",")[0] for line in choices.told[:2]] == [
        f"text.source: {of_source}",
        f"text.target: {of_target}",
    ]
    metrics = ["bleu", "chrf"] if of_target == "bpe" else ["exact", "cer"]
    assert choices.recipe.train.validate_metrics == metrics


def test_one_pair_is_enough():
    choices = filled([Pair("a b", "c", 1)])
    assert choices.recipe.model is not None and choices.recipe.train.steps == 1500


def test_what_is_written_counts():
    found = pairs(sentence, sentence)
    choices = filled(found, text={"source": {"kind": "char"}, "target": {"vocab_size": 500}})
    assert choices.recipe.text.source.kind == "char"
    assert (choices.recipe.text.target.kind, choices.recipe.text.target.vocab_size) == ("bpe", 500)
    given = dict(d_model=64, encoder_layers=1, decoder_layers=1, dropout=0.0)
    trained = dict(steps=50, batch_tokens=1024, warmup=5, validate_every=10, save_every=10, validate_metrics=[])
    text = {side: {"kind": "char"} for side in ("source", "target")}
    choices = filled(found, text=text, model=given, train=trained)
    assert choices.told == []
    assert choices.recipe.model.model_dump(include=given.keys()) == given
    assert choices.recipe.train.model_dump(include=trained.keys()) == trained


def test_a_key_leaves_the_others_of_its_section_open():
    found = pairs(phonemes, phonemes)
    choices = filled(found, model={"num_heads": 8}, train={"steps": 500})
    whole = filled(found)
    assert choices.recipe.model.num_heads == 8
    assert choices.recipe.model.d_model == whole.recipe.model.d_model == 128
    assert (choices.recipe.train.steps, choices.recipe.train.warmup) == (500, 50)
    assert choices.recipe.train.validate_metrics == whole.recipe.train.validate_metrics == ["exact", "cer"]
    assert len(choices.told) == len(whole.told) == 4


def test_more_pairs_give_larger_models_and_more_updates():
    few = pairs(phonemes, phonemes, 100)
    sizes = [filled(few * n).recipe for n in (1, 30, 300)]
    widths = [recipe.model.d_model for recipe in sizes]
    steps = [recipe.train.steps for recipe in sizes]
    assert widths == [128, 192, 256]
    assert steps == sorted(steps) and steps[0] == 1500 and steps[-1] <= 20000
    assert sizes[0].model.dropout > sizes[-1].model.dropout


def test_subwords_grow_with_the_text():
    few = [Pair(sentence(), sentence(), 1) for _ in range(100)]
    sizes = [filled(few * n).recipe.text.source.vocab_size for n in (1, 400)]
    assert sizes[0] == 1000 and 1000 < sizes[1] <= 16000


def test_a_choice_that_cannot_be_with_what_is_written_is_told():
    found = [Pair(word, word, 1) for word in words("abcde", 5)]
    assert filled(found).recipe.model.d_model == 192
    with pytest.raises(ConfigError, match="d_model=192 does not divide into num_heads=128"):
        filled(found, model={"num_heads": 128})
