import json

import pytest

from sublayer.errors import CheckpointError, ConfigError
from sublayer.text import KINDS, Tagged, load_side, load_vocabulary, train_tokenizer

TEXTS = ["to be or not to be", "that is <fr> the question", "be#V;PST", "été <frx", "<de> <fr> be"]
TAGS = ["<fr>", "<2de>"]
KIND = pytest.mark.parametrize("kind", KINDS)


def tagged(kind):
    own = train_tokenizer(kind, TEXTS, vocab_size=300)
    return own, Tagged(own, TAGS)


@KIND
def test_a_tag_is_one_token_and_the_rest_is_cut_as_if_it_stood_alone(kind):
    own, both = tagged(kind)
    assert len(both) == both.vocab_size == len(both.vocabulary) == len(own) + 2
    assert len(set(both.vocabulary)) == len(both)
    for number, tag in enumerate(TAGS):
        for text in TEXTS:
            assert both.encode(f"{tag} {text}") == [len(own) + number, *own.encode(text)]
        assert both.encode(tag) == both.encode(f"{tag} ") == [len(own) + number]
        assert both.piece(len(own) + number) == tag


@KIND
def test_elsewhere_it_is_text(kind):
    own, both = tagged(kind)
    for text in (*TEXTS, "<fr", "<fr>be", " <fr> be", "", "<fr>\tbe", "be <2de>"):
        assert both.encode(text) == own.encode(text)
        assert both.tokens(text) == own.tokens(text) and both.words(text) == own.words(text)
        assert both.located(text) == own.located(text)
        assert both.decode(own.encode(text)) == own.decode(own.encode(text))
    ids = both.encode("<2de> <fr> be")
    assert ids == [len(own) + 1, *own.encode("<fr> be")]


@KIND
def test_all_verbs_see_it(kind):
    own, both = tagged(kind)
    text, tag = "to be", len(own)
    ids = both.encode(f"<fr> {text}")
    read = own.decode(ids[1:])
    assert both.encode_batch([f"<fr> {text}", text, "<2de>"]) == [ids, own.encode(text), [tag + 1]]
    assert both.decode(ids) == f"<fr> {read}" and both.decode([tag]) == "<fr>"
    assert both.decode([both.bos, *ids[1:], tag, both.eos]) == read
    assert both.settled(ids) in (f"<fr> {own.settled(ids[1:])}", "<fr>")
    assert both.tokens(f"<fr> {text}") == ["<fr>", *own.tokens(text)]
    found, plain = both.words(f"<fr> {text}"), own.words(text)
    assert (found.ids, found.texts) == (tuple(ids), ("<fr>", *plain.texts))
    assert found.of == (0, *(n + 1 if n >= 0 else -1 for n in plain.of))
    again, plain = both.words_of(ids, f"<fr> {read}"), own.words_of(ids[1:], read)
    assert (again.ids, again.texts) == ((tag, *plain.ids), ("<fr>", *plain.texts))
    located, slices = both.located(f"<fr> {text}")
    assert located == ids and slices[0] == (0, 4)
    assert slices[1:] == [(start + 5, end + 5) for start, end in own.located(text)[1]]
    assert (both.front(ids), both.front(ids[1:]), both.front([])) == (1, 0, 0)


@KIND
def test_it_is_read_back(kind, tmp_path):
    own, both = tagged(kind)
    both.save(tmp_path / "t.json")
    again = load_side(tmp_path / "t.json")
    assert isinstance(again, Tagged) and again.to_json() == both.to_json()
    assert again.encode("<2de> to be") == both.encode("<2de> to be")
    assert (again.kind, again.separator, again.normalization) == (own.kind, own.separator, own.normalization)
    assert again.first_feature == own.first_feature


def test_a_file_that_is_none_is_refused(tmp_path):
    _, both = tagged("char")
    both.save(tmp_path / "t.json")
    with pytest.raises(CheckpointError, match="t.json: This is not a tokenizer that Sublayer wrote"):
        load_vocabulary(tmp_path / "t.json")  # what classifies texts has no tags
    content = json.loads(both.to_json())
    content["model"]["sublayer"]["tags"] = "<fr>"
    (tmp_path / "t.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CheckpointError, match="t.json: model.sublayer.tags is '<fr>', expected a list of words"):
        load_side(tmp_path / "t.json")


def test_a_tag_is_a_word():
    own, _ = tagged("char")
    with pytest.raises(ConfigError) as error:
        Tagged(own, ["<fr>", "to French", "", "<fr>"])
    assert str(error.value) == (
        "These cannot be tags:\n"
        "  - 'to French' is no word: write one without white space\n"
        "  - '' is no word: write one without white space\n"
        "  - '<fr>' stands there twice"
    )
