import pytest

from sublayer.errors import ConfigError, DataError
from sublayer.text import KINDS, train_tokenizer


def test_an_unknown_kind_names_the_nearest():
    with pytest.raises(ConfigError, match=r"Unknown kind of tokenizer 'words'. Did you mean 'word'\?"):
        train_tokenizer("words", ["a"])


def test_all_wrong_settings_are_told_together():
    with pytest.raises(ConfigError) as refused:
        train_tokenizer("char", ["a"], vocab_size=4, min_count=0, separator="", normalization="nfkcc")
    for words in (
        "vocab_size=4 leaves no room",
        "write 5 or more",
        "min_count=0",
        'kind "char"',
        "Did you mean 'nfkc'?",
    ):
        assert words in str(refused.value)
    with pytest.raises(ConfigError, match="begins like <pad>"):
        train_tokenizer("split", ["a"], separator="<")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_nothing_to_learn_from_is_an_error(kind, texts):
    with pytest.raises(DataError, match="The texts to learn a vocabulary from are empty"):
        train_tokenizer(kind, texts)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_may_be_a_stream_and_its_errors_come_through(kind):
    def stream():
        yield from ["walk#V", "", "talk#V"]

    def broken():
        yield "walk#V"
        raise DataError("corpus.txt, line 2: not UTF-8")

    assert train_tokenizer(kind, stream()).to_json() == train_tokenizer(kind, list(stream())).to_json()
    with pytest.raises(DataError, match="line 2"):
        train_tokenizer(kind, broken())
