import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sublayer.text import train_tokenizer
from sublayer.text.units import Words

CORPUS = ["the cat sat, on the mat.", "eine Größe 你好 \U0001f98a", "a#V;PST"]
TRAINED = {
    kind: train_tokenizer(kind, CORPUS, vocab_size=330)
    for kind in ("bpe", "unigram", "wordpiece", "word", "char", "backward", "split", "features")
}
SUBWORDS = ("bpe", "unigram", "wordpiece")


def test_tokens_belong_to_the_run_without_white_space_that_they_touch():
    words = Words.between_spaces(" ab  cd", [9, 8, 7, 6, 5], [(0, 2), (2, 3), (3, 4), (4, 6), (6, 7)])
    assert words == Words((9, 8, 7, 6, 5), ("ab", "cd"), (0, 0, -1, 1, 1))
    assert Words.between_spaces("  ", [4], [(0, 2)]) == Words((4,), (), (-1,))


@pytest.mark.parametrize("kind", SUBWORDS)
def test_parts_of_words_make_words(kind):
    text = "the mat,  a 你好 Größe."
    words = TRAINED[kind].words(text)
    assert words.texts == ("the", "mat,", "a", "你好", "Größe.")
    assert set(words.of) >= {0, 1, 2, 3, 4} and len(words.of) == len(words.ids) > 5
    assert list(words.ids) == TRAINED[kind].encode(text)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("word", "the\tnew  cat", ("the", "new", "cat")),
        ("split", "the new cat", ("the", "new", "cat")),
        ("char", "a b", ("a", " ", "b")),
        ("backward", "a b", ("b", " ", "a")),
        ("features", "a#V;PST", ("a", "#V", ";PST")),
    ],
)
def test_elsewhere_each_token_is_a_word(kind, text, expected):
    words = TRAINED[kind].words(text)
    assert words.texts == expected and words.of == tuple(range(len(expected)))


@pytest.mark.parametrize("kind", [kind for kind in TRAINED if kind != "features"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(text=st.text("thecat ö你\U0001f98a,.z", max_size=16))
def test_ids_make_the_same_words_as_the_text_they_read_as(kind, text):
    tokenizer = TRAINED[kind]
    ids = tokenizer.encode(text)
    text = tokenizer.decode(ids)
    if tokenizer.encode(text) == ids:
        assert tokenizer.words_of(ids, text) == tokenizer.words(text)


def test_ids_behind_the_end_of_the_text_are_left_out():
    tokenizer = TRAINED["word"]
    ids = tokenizer.encode("the cat sat, on")
    assert tokenizer.words_of(ids, "the ca") == Words(tuple(ids[:2]), ("the", "ca"), (0, 1))
    assert tokenizer.words_of(ids, "the ").texts == ("the",)
    assert tokenizer.words_of(ids, "") == Words((), (), ())


@pytest.mark.parametrize("kind", TRAINED)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(data=st.data())
def test_what_has_settled_stays(kind, data):
    tokenizer = TRAINED[kind]
    ids = data.draw(st.lists(st.integers(1, len(tokenizer) - 1), max_size=12))
    settled = [tokenizer.settled(ids[:n]) for n in range(len(ids) + 1)]
    for shorter, longer in zip(settled, [*settled[1:], tokenizer.decode(ids)], strict=True):
        assert longer.startswith(shorter)


def test_a_character_settles_with_its_last_byte():
    tokenizer = train_tokenizer("bpe", ["a"], vocab_size=261)
    ids = tokenizer.encode("a你")
    assert [tokenizer.settled(ids[:n]) for n in range(5)] == ["", "a", "a", "a", "a你"]
    assert tokenizer.words_of(ids, "a你") == Words(tuple(ids), ("a你",), (0, 0, 0, 0))
