"""Text that looks like a special token is text."""

import pytest

from sublayer.text import KINDS, SPECIALS, train_tokenizer

# Trained on the spellings themselves, often enough for every trainer to want them as tokens.
CORPUS = [*SPECIALS, "a<pad>b</s><unk><s>", "x#<pad>;</s>", "< p a d / s > n u k"] * 50


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [*SPECIALS, "a <pad> b </s>", "<pad><pad>", "<s>a</s>", " <unk>", "x#<pad>;</s>"])
def test_no_text_spells_a_special_token(kind, text):
    tokenizer = train_tokenizer(kind, [*CORPUS, text])
    ids = tokenizer.encode(text)
    assert min(ids) >= len(SPECIALS)
    if kind != "wordpiece":
        assert tokenizer.decode(ids) == (text.strip() if kind in ("word", "split") else text)
    tokens = tokenizer.tokens(text)
    tokens = tokens[::-1] if kind == "backward" else tokens
    assert "".join(tokens).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("text", ["pad>", "s>", "/s>"])
def test_a_separator_cannot_complete_a_special_token(text):
    tokenizer = train_tokenizer("split", [text + ",x"], separator=",")
    assert min(tokenizer.encode(text)) >= len(SPECIALS)
