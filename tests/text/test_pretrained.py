import json

import pytest
import tokenizers

from sublayer.errors import CheckpointError, DataError
from sublayer.text import PretrainedTokenizer
from sublayer.text.published import read_tokenizer

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat ##s on un ##der mat . , é 你 好 мир".split()
TEXTS = [
    "The cats sat on the mat.",
    "café\u00a0the\u2009cat\tsat\u3000on",
    "你好，мир! 🦊 ﬁ",
    "under  under\u200bunder\nthe\r\ncat",
    "ÉÉ é e\u0301 the\u0301",
    "",
    "x" * 101 + " cat",
]


@pytest.fixture
def bert(tmp_path):
    (tmp_path / "vocab.txt").write_text("".join(f"{word}\n" for word in WORDS), encoding="utf-8")
    return read_tokenizer(tmp_path)


def folder(path, **about):
    path.mkdir(exist_ok=True)
    (path / "vocab.txt").write_text("".join(f"{word}\n" for word in WORDS), encoding="utf-8")
    (path / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    return path


@pytest.mark.parametrize("about", [{}, {"do_lower_case": False}, {"strip_accents": False}])
def test_word_pieces_are_those_of_transformers(tmp_path, about):
    import transformers

    where = folder(tmp_path, **about)
    theirs = transformers.BertTokenizer(vocab={word: i for i, word in enumerate(WORDS)}, **about)
    ours = read_tokenizer(where)
    for text in TEXTS:
        assert ours.inputs(text).ids == theirs(text)["input_ids"]
        assert ours.encode(text) == theirs(text, add_special_tokens=False)["input_ids"]
    both = theirs("the cat", "on the mat")
    assert ours.inputs("the cat", "on the mat") == (both["input_ids"], both["token_type_ids"])


def test_ids_by_hand(bert):
    assert bert.encode("The cats, under!") == [5, 6, 8, 14, 10, 11, 1]
    assert bert.inputs("cat", "mat").ids == [2, 6, 3, 12, 3] and bert.inputs("cat", "mat").types == [0, 0, 0, 1, 1]
    assert (bert.pad, bert.unk, bert.cls, bert.sep, bert.mask, bert.bos, bert.eos) == (0, 1, 2, 3, 4, None, None)
    assert bert.decode([2, 5, 6, 8, 1, 3, 0]) == "the cats \ufffd" and bert.piece(8) == "##s"
    assert bert.tokens("The cats") == ["The", "cat", "s"]
    assert bert.encode_batch(["cat", ""]) == [[6], []] and len(bert) == bert.vocab_size == len(WORDS)


def test_a_special_token_in_a_text_is_text_until_asked_for(bert):
    assert bert.mask not in bert.encode("the [MASK] sat")
    assert bert.with_specials().encode("the [MASK] sat") == [5, 4, 7]
    assert bert.mask not in bert.encode("the [MASK] sat")


def test_of_what_is_too_long_the_end_of_the_longer_text_is_left_out(bert):
    assert bert.inputs("the cat sat on", longest=4).ids == [2, 5, 6, 3]
    assert bert.inputs("the cat sat on", "the mat", longest=7).ids == [2, 5, 6, 3, 5, 12, 3]
    assert bert.inputs("the cat", "the cat", longest=6).ids == [2, 5, 6, 3, 5, 3]


def test_words_of_a_text_by_hand(bert):
    assert bert.encode_words(["The", "cats,", "\u200b", "under"]) == [[5], [6, 8, 14], [1], [10]]
    assert bert.around() == ([2], [3]) and bert.segments([2, 6, 3, 12, 3]) == [0, 0, 0, 1, 1]
    assert (bert.kind, bert.normalization) == ("wordpiece", "BertNormalizer")


def test_saved_and_loaded(bert, tmp_path):
    bert.save(tmp_path / "tokenizer.json")
    again = PretrainedTokenizer.load(tmp_path / "tokenizer.json")
    assert again.to_json() == bert.to_json() and again.specials == bert.specials
    assert [again.inputs(text) for text in TEXTS] == [bert.inputs(text) for text in TEXTS]
    with pytest.raises(CheckpointError, match="nowhere.json"):
        PretrainedTokenizer.load(tmp_path / "nowhere.json")
    with pytest.raises(CheckpointError, match="no tokenizer of a published model"):
        PretrainedTokenizer.from_json("{}")


def test_as_transformers_reads_it(bert, tmp_path):
    import transformers

    bert.save_pretrained(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert [theirs(text)["input_ids"] for text in TEXTS] == [bert.inputs(text).ids for text in TEXTS]
    assert theirs.mask_token_id == bert.mask
    assert read_tokenizer(tmp_path).specials == bert.specials


def test_cutting_and_padding_that_a_file_asks_for_are_not_done(bert, tmp_path):
    backend = tokenizers.Tokenizer.from_str(bert.to_json())
    backend.enable_truncation(3)
    backend.enable_padding(length=9)
    backend.save(str(tmp_path / "tokenizer.json"))
    assert read_tokenizer(tmp_path).encode("the cat sat on the mat") == [5, 6, 7, 9, 5, 12]


def test_what_cannot_be_read(bert, tmp_path):
    with pytest.raises(DataError, match="halves of surrogate pairs"):
        bert.encode("\ud800")
    with pytest.raises(DataError, match=r"ids \[-1, 99\] are not in this vocabulary of 19: write 0 to 18"):
        bert.decode([5, -1, 99])
    assert read_tokenizer(tmp_path / "empty") is None
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\nthe\n", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"no line for the special tokens \[CLS\], \[SEP\]"):
        read_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(CheckpointError, match="tokenizer.json is no tokenizer's JSON"):
        read_tokenizer(tmp_path)


def byte_level(path, specials):
    """vocab.json and merges.txt of a small byte-level BPE; the specials come first."""
    model = tokenizers.models.BPE()
    backend = tokenizers.Tokenizer(model)
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=list(specials), initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator([*TEXTS, "the cat sat on the mat and the cats sat under it"] * 3, trainer)
    backend.model.save(str(path))
    vocabulary = json.loads((path / "vocab.json").read_text("utf-8"))
    merges = (path / "merges.txt").read_text("utf-8").splitlines()[1:]
    return vocabulary, [tuple(line.split(" ")) for line in merges]


@pytest.mark.parametrize("kind", ["Roberta", "GPT2"])
def test_byte_level_bpe_is_that_of_transformers(tmp_path, kind):
    import transformers

    specials = ("<s>", "<pad>", "</s>", "<unk>", "<mask>") if kind == "Roberta" else ("<|endoftext|>",)
    vocabulary, merges = byte_level(tmp_path, specials)
    mask = {"mask_token": tokenizers.AddedToken("<mask>", lstrip=True, special=True)} if kind == "Roberta" else {}
    theirs = getattr(transformers, f"{kind}Tokenizer")(vocab=vocabulary, merges=merges, **mask)
    ours = read_tokenizer(tmp_path)
    for text in TEXTS:
        assert ours.inputs(text).ids == theirs(text)["input_ids"]
        assert ours.decode(ours.encode(text)) == text
    both = theirs("the cat", "on the mat")
    assert ours.inputs("the cat", "on the mat").ids == both["input_ids"]
    if kind == "Roberta":
        assert (
            ours.with_specials().encode("the <mask> sat")
            == theirs("the <mask> sat", add_special_tokens=False)["input_ids"]
        )
        assert (ours.bos, ours.pad, ours.eos, ours.unk, ours.mask) == (0, 1, 2, 3, 4)
