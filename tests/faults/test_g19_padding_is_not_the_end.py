"""G19: padding and end of sentence must not share an id."""

import pytest

from sublayer.text import KINDS, Tokenizer, train_tokenizer


@pytest.mark.parametrize("kind", KINDS)
def test_the_four_special_ids_differ_in_training_and_in_the_file(kind):
    trained = train_tokenizer(kind, ["a b"])
    for tokenizer in (trained, Tokenizer.from_json(trained.to_json())):
        assert len({tokenizer.pad, tokenizer.unk, tokenizer.bos, tokenizer.eos}) == 4
        assert not {tokenizer.pad, tokenizer.bos, tokenizer.eos} & set(tokenizer.encode("a b"))
