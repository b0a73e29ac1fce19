import json

import pytest

from sublayer.errors import CheckpointError, DataError
from sublayer.text import NGrams
from sublayer.text.ngrams import spelt

TEXTS = [["the", "cat", "sat"], ["the", "cats", "sit"]]


def trained(texts=TEXTS, **settings):
    return NGrams.train(texts, **({"vocab_size": 100} | settings))


def test_ngrams_of_a_word_stand_between_its_marks():
    assert spelt("cat") == ["<c", "ca", "at", "t>", "<ca", "cat", "at>", "<cat", "cat>"]
    assert spelt("a") == ["<a", "a>"]
    assert len(spelt("abcdefgh")) == 9 + 8 + 7 + 6


def test_words_go_by_count_then_by_code_point_and_ngrams_stand_in_two_words():
    words = trained()
    assert words.words == ["the", "cat", "cats", "sat", "sit"]
    assert set(words.ngrams) == {"at", "t>", "<s", "<c", "ca", "<ca", "cat", "<cat", "at>"}
    assert words.ngrams[0] == "at" and words.ngrams[1:3] == ["t>", "<c"]
    assert len(words) == words.vocab_size == 4 + 5 + 9


def test_a_bag_is_the_word_and_its_known_ngrams():
    words = trained()
    assert [words.piece(i) for i in words.bag("cat")] == [
        "cat", "<c", "ca", "at", "t>", "<ca", "cat", "at>", "<cat",
    ]  # fmt: skip
    assert [words.piece(i) for i in words.bag("rat")] == ["\ufffd", "at", "t>", "at>"]
    assert words.bag("zzz") == [words.unk]


def test_rare_words_and_those_beyond_the_size_are_unknown():
    assert trained(min_count=2).words == ["the"]
    assert trained(vocab_size=6).words == ["the", "cat"]
    assert trained(min_count=2).bag("cat")[0] == NGrams.unk


def test_the_order_of_the_texts_changes_nothing(tmp_path):
    for name, texts in (("a", TEXTS), ("b", TEXTS[::-1])):
        trained(texts).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_texts_are_cut_into_words_and_signs():
    words = trained()
    assert words.tokens("It's 3,5 über?") == ["It", "'", "s", "3", ",", "5", "über", "?"]
    assert words.encode("the cat") == [words.bag("the"), words.bag("cat")]
    assert words.encode_batch(["the", ""]) == [[words.bag("the")], []]


def test_both_spellings_of_an_accent_are_one_word():
    composed, apart = "é", "e\u0301"
    assert trained([[composed, apart]]).words == [composed]
    assert trained([[composed, apart]], normalization="none").words == [apart, composed]
    words = trained([[composed, "a"]])
    assert words.bag(apart) == words.bag(composed) and words.bag(apart)[0] != words.unk


def test_saved_and_loaded_it_is_the_same(tmp_path):
    trained().save(tmp_path / "t.json")
    again = NGrams.load(tmp_path / "t.json")
    assert (again.words, again.ngrams, again.bag("cats")) == (trained().words, trained().ngrams, trained().bag("cats"))


def test_what_cannot_be_read_names_the_file(tmp_path):
    path = tmp_path / "t.json"
    with pytest.raises(CheckpointError, match="t.json cannot be read as words and n-grams"):
        NGrams.load(path)
    for content in ({"kind": "bpe", "words": [], "ngrams": []}, {"kind": "ngrams", "words": 1, "ngrams": []}):
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(CheckpointError, match="t.json is of kind .*, expected 'ngrams' with two lists"):
            NGrams.load(path)


def test_texts_without_a_word_are_refused():
    with pytest.raises(DataError, match="hold no word"):
        trained([[], []])
