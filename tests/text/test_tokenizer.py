import json

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from sublayer.errors import CheckpointError, DataError
from sublayer.text import KINDS, SPECIALS, Tokenizer, train_tokenizer

CORPUS = ["the cat sat on the mat", "walk#V;PST", "a;b#c#V", "Ünïcode 你好 \U0001f98a", "<pad> </s>"] * 2
TRAINED = {
    (kind, form): train_tokenizer(kind, CORPUS, vocab_size=400, normalization=form)
    for kind in KINDS
    for form in ("none", "nfc", "nfkd")
}
# Random characters, and those that mean something to a kind, close together.
TEXTS = st.one_of(st.text(), st.text("the#;V<pad>/ \x1f\ufffd▁Ġ\t.,你e\u0301é\u037e\u2028\r", max_size=30))


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(TEXTS)
def test_one_round_trip_reaches_a_fixed_point(text):
    for tokenizer in TRAINED.values():
        ids = tokenizer.encode(text)
        assert len(tokenizer.tokens(text)) == len(ids)
        once = tokenizer.encode(tokenizer.decode(ids))
        assert tokenizer.encode(tokenizer.decode(once)) == once, tokenizer


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(TEXTS, max_size=5))
def test_a_text_is_cut_alike_alone_and_in_a_batch(texts):
    for tokenizer in TRAINED.values():
        assert tokenizer.encode_batch(iter(texts)) == [tokenizer.encode(text) for text in texts]


@pytest.mark.parametrize("kind", KINDS)
def test_the_file_gives_back_the_same_tokenizer(kind, tmp_path):
    tokenizer = train_tokenizer(kind, CORPUS, vocab_size=400, normalization="nfkc")
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    again = Tokenizer.load(path)
    assert again.to_json() == tokenizer.to_json() == path.read_text(encoding="utf-8")
    assert (again.kind, again.normalization, again.first_feature) == (kind, "nfkc", tokenizer.first_feature)
    assert [again.encode(text) for text in CORPUS] == [tokenizer.encode(text) for text in CORPUS]
    assert [again.tokens(text) for text in CORPUS] == [tokenizer.tokens(text) for text in CORPUS]
    assert [file.name for file in tmp_path.iterdir()] == ["tokenizer.json"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_library_reads_the_file_and_gives_the_same_ids(kind, tmp_path):
    tokenizer = train_tokenizer(kind, CORPUS, vocab_size=400)
    tokenizer.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ids = [theirs.encode(text).ids for text in CORPUS]
    assert [row[::-1] if kind == "backward" else row for row in ids] == tokenizer.encode_batch(CORPUS)


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_have_ids_of_their_own_and_read_as_nothing(kind):
    tokenizer = TRAINED[kind, "nfc"]
    assert [tokenizer.pad, tokenizer.unk, tokenizer.bos, tokenizer.eos] == [0, 1, 2, 3]
    assert [tokenizer.piece(i) for i in range(4)] == list(SPECIALS)
    ids = tokenizer.encode("the cat")
    framed = [tokenizer.bos, *ids, tokenizer.eos, tokenizer.pad, tokenizer.pad]
    assert tokenizer.decode(framed) == tokenizer.decode(ids)
    assert tokenizer.decode([]) == tokenizer.decode([tokenizer.eos]) == ""
    assert len(tokenizer) == tokenizer.vocab_size


def test_an_id_outside_the_vocabulary_is_named():
    tokenizer = TRAINED["char", "nfc"]
    with pytest.raises(DataError, match=f"id -100 is not in .* from 0 to {len(tokenizer) - 1}"):
        tokenizer.decode([4, -100])


def test_half_a_surrogate_pair_is_named():
    for encode in (
        lambda text: TRAINED["bpe", "nfc"].encode(text),
        lambda text: TRAINED["bpe", "nfc"].encode_batch(["a", text]),
    ):
        with pytest.raises(DataError, match=r"'\\ud83e' is not text that UTF-8 can hold"):
            encode("\ud83e")


def test_what_is_not_a_tokenizers_json_is_refused(tmp_path):
    path = tmp_path / "tokenizer.json"
    for content in (b"", b"{}", b"[1]", b'{"version":"1.0"', b"\xff\xfe"):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match="tokenizer.json: "):
            Tokenizer.load(path)
    with pytest.raises(CheckpointError, match="absent.json: there is no such file"):
        Tokenizer.load(tmp_path / "absent.json")


def test_a_foreign_tokenizer_is_refused_with_every_reason():
    foreign = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "a": 2}, unk_token="[UNK]"))
    foreign.add_special_tokens(["[UNK]", "[CLS]"])
    with pytest.raises(CheckpointError) as refused:
        Tokenizer.from_json(foreign.to_str())
    message = str(refused.value)
    for reason in (
        "not a tokenizer that Sublayer wrote",
        "model.sublayer is None",
        "['[UNK]', 'a']",
        "2 added tokens",
        "0 to 1",
    ):
        assert reason in message


@pytest.mark.parametrize("about", [{}, {"kind": "char"}, ["char", "nfc", ""], None])
def test_a_file_without_its_kind_and_normal_form_is_refused(about):
    content = json.loads(TRAINED["char", "nfc"].to_json())
    content["model"]["sublayer"] = about
    with pytest.raises(CheckpointError, match="expected the keys kind, normalization and separator"):
        Tokenizer.from_json(json.dumps(content))
