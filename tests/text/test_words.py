from collections import Counter

import pytest

from sublayer.errors import DataError
from sublayer.text import SPECIALS, UNKNOWN, train_tokenizer

CORPUS = ["to be or not to be", "that is the question", "été à Noël", "be"]


def ranked(units):
    """The order every whole-unit vocabulary has: falling count, then code point."""
    return sorted(Counter(units), key=lambda unit: (-Counter(units)[unit], unit))


def vocabulary(tokenizer):
    return [tokenizer.piece(i) for i in range(len(tokenizer))]


def test_char_is_every_character_by_count_then_code_point():
    tokenizer = train_tokenizer("char", CORPUS)
    assert vocabulary(tokenizer) == [*SPECIALS, *ranked("".join(CORPUS))]
    assert tokenizer.decode(tokenizer.encode("note à Noël")) == "note à Noël"


def test_backward_is_char_with_the_ids_turned_round():
    char, backward = (train_tokenizer(kind, CORPUS) for kind in ("char", "backward"))
    assert vocabulary(backward) == vocabulary(char)
    for text in ("note à Noël", "", "xyz b"):
        assert backward.encode(text) == char.encode(text)[::-1]
        assert backward.tokens(text) == list(reversed(char.tokens(text)))
        assert backward.decode(backward.encode(text)) == char.decode(char.encode(text))
    assert backward.encode_batch(["be", "to"]) == [backward.encode("be"), backward.encode("to")]
    assert type(backward).from_json(backward.to_json()).encode("be") == backward.encode("be")


def test_nothing_of_a_backward_text_is_settled_before_its_end():
    backward = train_tokenizer("backward", CORPUS)
    assert backward.settled(backward.encode("to be")[:3]) == ""


def test_char_counts_line_ends_and_spaces():
    tokenizer = train_tokenizer("char", ["a \n\r\n"])
    assert [tokenizer.piece(i) for i in tokenizer.encode("\n\r a")] == ["\n", "\r", " ", "a"]


def test_word_is_every_word_by_count_then_code_point():
    tokenizer = train_tokenizer("word", CORPUS)
    assert vocabulary(tokenizer) == [*SPECIALS, *ranked(" ".join(CORPUS).split())]


@pytest.mark.parametrize("kind", ["word", "char", "backward"])
def test_min_count_and_vocab_size_drop_the_rarest(kind):
    whole = vocabulary(train_tokenizer(kind, CORPUS))
    assert vocabulary(train_tokenizer(kind, CORPUS, vocab_size=6)) == whole[:6]
    kept = vocabulary(train_tokenizer(kind, CORPUS, min_count=2))
    units = " ".join(CORPUS).split() if kind == "word" else "".join(CORPUS)
    assert kept == [*SPECIALS, *(unit for unit in ranked(units) if Counter(units)[unit] >= 2)]


def test_word_reads_any_white_space_as_one_space():
    tokenizer = train_tokenizer("word", CORPUS)
    ids = tokenizer.encode("to be question")
    assert tokenizer.encode("\t to \r\n be\u3000\u00a0question\u2028 ") == ids
    assert tokenizer.decode(ids) == "to be question"
    assert tokenizer.tokens(" to\tbe  what") == ["to", "be", "what"]


@pytest.mark.parametrize("separator", [" ", "|", "--", ".", "\\", "[a-z]"])
def test_split_keeps_every_token_and_reads_back_with_its_separator(separator):
    phonemes = [f"P{i}" for i in range(9000)]
    tokenizer = train_tokenizer("split", [separator.join(phonemes)], separator=separator)
    assert len(tokenizer) == len(SPECIALS) + len(phonemes)
    text = separator.join(["P7", "P8999", "P0"])
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode(f"{separator}P7{separator}{separator}P8999{separator}") == tokenizer.encode(text)[:2]
    assert tokenizer.tokens(text) == ["P7", "P8999", "P0"]


def test_split_tokens_may_hold_any_other_white_space():
    tokenizer = train_tokenizer("split", ["\r|a b|\u2028|\t"], separator="|")
    assert [tokenizer.piece(i) for i in tokenizer.encode("a b|\t|\r|\u2028")] == ["a b", "\t", "\r", "\u2028"]


FEATURES = ["walk#V;PST", "Vase#N;PL", "a;b#c#V;V.PTCP;PRS", "walk#V;NFIN", "a+b#V;SG+PL;SG"]


def test_features_stand_last_and_differ_from_characters():
    tokenizer = train_tokenizer("features", FEATURES)
    assert tokenizer.first_feature is not None
    pieces = vocabulary(tokenizer)
    # V three times; then by code point
    assert pieces[tokenizer.first_feature :] == ["#V", "#SG", "+PL", "#N", "#NFIN", "#PL", "#PRS", "#PST", "#V.PTCP"]
    assert set(pieces[len(SPECIALS) : tokenizer.first_feature]) == set("walkVasea;b#c+")
    assert [tokenizer.piece(i) for i in tokenizer.encode("Va#V;PL")] == ["V", "a", "#V", "#PL"]


def test_a_feature_has_one_id_wherever_it_stands():
    tokenizer = train_tokenizer("features", FEATURES)
    assert tokenizer.encode("a#V;PST")[-2:] == tokenizer.encode("a#PST;V")[:-3:-1]


READ_BACK = [*FEATURES, "a;b", "a;b#V", "walk", "#V;PST", ";", ";#V", "a#b#V", "ab##", ""]
PLUS = ["+", "+#V", "a#V;+PL", "a#SG+", "a#SG++PL", "a#+PL", "a#V;SG+PL+N"]


@pytest.mark.parametrize("text", [*READ_BACK, *PLUS])
def test_features_read_back(text):
    tokenizer = train_tokenizer("features", [*FEATURES, *PLUS])
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_features_without_a_feature_are_a_lemma():
    tokenizer = train_tokenizer("features", ["ab;", "ba"])
    assert tokenizer.first_feature == len(tokenizer)
    assert [tokenizer.piece(i) for i in tokenizer.encode("a;b")] == ["a", ";", "b"]
    assert tokenizer.encode("ab#") == tokenizer.encode("ab#;;") == tokenizer.encode("ab")


def test_unseen_features_and_characters_are_unknown():
    tokenizer = train_tokenizer("features", FEATURES)
    ids = tokenizer.encode("wz#V;FUT")
    assert [i == tokenizer.unk for i in ids] == [False, True, False, True]
    assert tokenizer.tokens("wz#V;FUT") == ["w", "z", "#V", ";FUT"]


def test_only_features_tell_where_features_begin():
    assert train_tokenizer("char", FEATURES).first_feature is None


@pytest.mark.parametrize(
    ("kind", "unseen", "read"),
    [
        ("char", "bZ", f"b{UNKNOWN}"),
        ("word", "be  sure", f"be {UNKNOWN}"),
        ("split", "be sure", f"be {UNKNOWN}"),
    ],
)
def test_unknown_reads_as_one_mark(kind, unseen, read):
    tokenizer = train_tokenizer(kind, CORPUS)
    assert tokenizer.decode(tokenizer.encode(unseen)) == read


def test_nothing_left_to_learn_names_the_setting():
    with pytest.raises(DataError, match=r"No token is left .* min_count=9"):
        train_tokenizer("word", CORPUS, min_count=9)
    with pytest.raises(DataError, match="more than separators"):
        train_tokenizer("split", ["| |", "|"][1:], separator="|")
