"""G33: the tokenizer must change nothing beyond the normal form in force, which is the same everywhere."""

import pytest

from sublayer.text import KINDS, Tokenizer, train_tokenizer

TEXTS = [
    "ﬁne ２ ²",
    "a  b",
    " a ",
    "x\ty",
    "no\u00a0break",
    "e\u0301",
    "\u00e9",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "我喜欢这本书。",
    "{",
    "\r\n\u2028\x1f\x7f",
    "▁ Ġ ## <0x41>",
    "do not",
]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("text", TEXTS)
def test_bytes_lose_nothing_even_unseen(kind, text):
    tokenizer = train_tokenizer(kind, ["some other text"], normalization="none")
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("text", TEXTS)
def test_characters_lose_nothing_once_seen(text):
    tokenizer = train_tokenizer("char", TEXTS, normalization="none")
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("kind", KINDS)
def test_composed_and_decomposed_accents_give_the_same_ids(kind):
    composed, decomposed = "caf\u00e9 \u00e9t\u00e9", "cafe\u0301 e\u0301te\u0301"
    for form in ("nfc", "nfd", "nfkc", "nfkd"):
        tokenizer = train_tokenizer(kind, [composed], normalization=form)
        assert tokenizer.encode(composed) == tokenizer.encode(decomposed)
        assert tokenizer.unk not in tokenizer.encode(decomposed)
    raw = train_tokenizer(kind, [composed, decomposed], normalization="none")
    assert raw.encode(composed) != raw.encode(decomposed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("form", "read"), [("none", "ﬁ２²"), ("nfc", "ﬁ２²"), ("nfkc", "fi22")])
def test_the_form_in_force_is_stored_and_applied_in_every_mode(kind, form, read, tmp_path):
    trained = train_tokenizer(kind, ["ﬁ２²"], normalization=form)
    trained.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert loaded.normalization == form
    assert f"normalization='{form}'" in repr(loaded)
    assert loaded.decode(loaded.encode("ﬁ２²")) == loaded.decode(loaded.encode_batch(["ﬁ２²"])[0]) == read
    assert loaded.encode("ﬁ２²") == trained.encode("ﬁ２²")
