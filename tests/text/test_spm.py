"""SentencePiece's files without SentencePiece: the same ids."""

import json

import pytest
import sentencepiece
from tests.text.spm import TEXTS, trained

from sublayer.errors import CheckpointError
from sublayer.text import PretrainedTokenizer
from sublayer.text.sentencepiece import backend
from sublayer.text.spm import Kind, read_spm

BYTES = dict(byte_fallback=True, vocab_size=500)
FILES = {
    "unigram": dict(model_type="unigram", vocab_size=200),
    "bpe": dict(model_type="bpe", vocab_size=300),
    "unigram with bytes": dict(model_type="unigram", **BYTES),
    "bpe with bytes, spaces kept": dict(
        model_type="bpe", **BYTES, normalization_rule_name="identity", remove_extra_whitespaces=False
    ),
    "unigram with pieces of one's own": dict(
        model_type="unigram", vocab_size=200, user_defined_symbols="<sep>,qu", control_symbols="<ctl>"
    ),
    "bpe with pieces of one's own": dict(
        model_type="bpe", vocab_size=300, user_defined_symbols="<sep>,qu", control_symbols="<ctl>"
    ),
    "no space in front": dict(model_type="unigram", vocab_size=200, add_dummy_prefix=False, pad_id=3),
    "pieces of several words": dict(model_type="unigram", vocab_size=250, split_by_whitespace=False),
    "bpe pieces of several words": dict(model_type="bpe", vocab_size=300, split_by_whitespace=False),
    "case folded": dict(model_type="unigram", vocab_size=200, normalization_rule_name="nfkc_cf"),
    "as it stands": dict(model_type="unigram", vocab_size=200, normalization_rule_name="identity"),
}


@pytest.fixture
def spm(tmp_path):
    """spm(bytes) is the path of a file with them."""

    def spm(held):
        path = tmp_path / "model.spm"
        path.write_bytes(held)
        return path

    return spm


@pytest.mark.parametrize("case", FILES)
def test_ids_and_texts_are_those_of_sentencepiece(case, spm):
    held = trained(**FILES[case])
    theirs, ours = sentencepiece.SentencePieceProcessor(model_proto=held), backend(read_spm(spm(held)))
    tokenizer = PretrainedTokenizer(ours, specials={"unk": "<unk>"})
    again = PretrainedTokenizer.from_json(tokenizer.to_json())
    for text in TEXTS:
        ids = theirs.encode(text)
        assert tokenizer.encode(text) == again.encode(text) == ids, text
        if theirs.unk_id() not in ids and not text.startswith("▁"):
            assert tokenizer.decode(ids) == theirs.decode(ids)
    assert len(tokenizer) == theirs.get_piece_size()


def test_slices_of_the_text(spm):
    tokenizer = PretrainedTokenizer(backend(read_spm(spm(trained(**FILES["bpe"])))), specials={"unk": "<unk>"})
    text = "The  fox ＦＵＬＬ 你好"
    assert "".join(tokenizer.tokens(text)).replace(" ", "") == text.replace(" ", "")


def test_what_stands_in_the_file(spm):
    held = trained(**FILES["unigram with pieces of one's own"])
    read, theirs = read_spm(spm(held)), sentencepiece.SentencePieceProcessor(model_proto=held)
    assert [piece.text for piece in read.pieces] == [theirs.id_to_piece(i) for i in range(len(theirs))]
    assert [piece.score for piece in read.pieces] == [theirs.get_score(i) for i in range(len(theirs))]
    kinds = {piece.text: piece.kind for piece in read.pieces}
    assert kinds["<sep>"] is Kind.USER_DEFINED and kinds["<ctl>"] is Kind.CONTROL and kinds["<unk>"] is Kind.UNKNOWN
    assert read.unigram and read.prefix and read.collapse and read.charsmap and not read.byte_fallback


def field(number, kind, body):
    return bytes([number << 3 | kind]) + body


def message(number, *fields):
    body = b"".join(fields)
    return field(number, 2, bytes([len(body)]) + body)


def piece(text, kind):
    spelled = text.encode("utf-8")
    return message(1, field(1, 2, bytes([len(spelled)]) + spelled), field(3, 0, bytes([kind])))


def test_what_cannot_be_followed_is_told_at_once(spm):
    suffix = b"\xc0\x01\x01"  # field 24 of the trainer, true
    held = piece("a", 1) + piece("b", 5) + message(2, field(3, 0, b"\x03"), suffix) + message(3, field(5, 0, b"\x00"))
    with pytest.raises(CheckpointError) as caught:
        read_spm(spm(held))
    assert str(caught.value).splitlines()[1:] == [
        "  - it has 0 unknown pieces, expected one",
        "  - its model is of type 3; those of type 1, unigram, and 2, BPE, can be read",
        "  - it has pieces of the kind unused",
        "  - it has spaces behind words (treat_whitespace_as_suffix)",
        "  - it leaves spaces as they are (escape_whitespaces is false)",
    ]


@pytest.mark.parametrize("held", [b"\x0a\xff\x01abc", b"\x0b", b"\xff" * 12, json.dumps({"a": 1}).encode(), b"\x0a"])
def test_a_file_that_is_none(held, spm):
    with pytest.raises(CheckpointError, match="cannot be read as a SentencePiece file"):
        read_spm(spm(held))
