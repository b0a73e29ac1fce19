"""Folders with a SentencePiece file and no tokenizer.json: the ids that transformers' tokenizer of the family gives."""

import json
import warnings

import pytest
import sentencepiece
import transformers
from tests.parity.published import save
from tests.text.spm import TEXTS, trained

from sublayer.errors import CheckpointError, DataError
from sublayer.interop.pretrained import from_pretrained
from sublayer.text import PretrainedTokenizer
from sublayer.text.published import read_target_tokenizer, read_tokenizer

LINES = [text for text in TEXTS if "<" not in text and "▁" not in text]
T5 = dict(model_type="unigram", vocab_size=200, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
FAIRSEQ = dict(model_type="unigram", vocab_size=210)
BPE = dict(model_type="bpe", vocab_size=300)
LLAMA = dict(
    model_type="bpe",
    vocab_size=500,
    byte_fallback=True,
    normalization_rule_name="identity",
    remove_extra_whitespaces=False,
)
DEBERTA = dict(
    model_type="unigram",
    vocab_size=220,
    pad_id=0,
    bos_id=1,
    eos_id=2,
    unk_id=3,
    pad_piece="[PAD]",
    bos_piece="[CLS]",
    eos_piece="[SEP]",
    unk_piece="[UNK]",
)
FOLDERS = {
    "T5Tokenizer": ("t5", "spiece.model", T5),
    "XLMRobertaTokenizer": ("xlm-roberta", "sentencepiece.bpe.model", FAIRSEQ),
    "CamembertTokenizer": ("camembert", "sentencepiece.bpe.model", FAIRSEQ),
    "MBartTokenizer": ("mbart", "sentencepiece.bpe.model", FAIRSEQ),
    "MBart50Tokenizer": ("mbart", "sentencepiece.bpe.model", FAIRSEQ),
    "NllbTokenizer": ("m2m_100", "sentencepiece.bpe.model", BPE),
    "LlamaTokenizer": ("llama", "tokenizer.model", LLAMA),
    "DebertaV2Tokenizer": ("deberta-v2", "spm.model", DEBERTA),
    "MarianTokenizer": ("marian", "source.spm", FAIRSEQ),
    "M2M100Tokenizer": ("m2m_100", "sentencepiece.bpe.model", BPE),
}
LISTED = {"NllbTokenizer": ["eng_Latn", "fra_Latn", "zho_Hans"]}
LISTED["M2M100Tokenizer"] = [f"__{code}__" for code in ("de", "en", "zh")]


def write(folder, name, **about):
    """A folder as it is published, and the SentencePiece processor of its file."""
    model_type, file, settings = FOLDERS[name]
    held = trained(**settings)
    folder.mkdir(exist_ok=True)
    (folder / file).write_bytes(held)
    about = {"tokenizer_class": name} | about
    if name in LISTED:
        about["additional_special_tokens"] = LISTED[name]
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}), encoding="utf-8")
    return sentencepiece.SentencePieceProcessor(model_proto=held)


def vocabulary(folder, first, *files, last=()):
    """vocab.json with the pieces of the files, sorted."""
    processors = [sentencepiece.SentencePieceProcessor(model_file=str(folder / file)) for file in files]
    pieces = {sp.id_to_piece(i) for sp in processors for i in range(len(sp))} - set(first) - set(last)
    ids = {token: i for i, token in enumerate([*first, *sorted(pieces), *last])}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    return ids


def theirs_from(folder, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(transformers, name).from_pretrained(folder)


def pieces(tokenizer, ids):
    return [tokenizer.piece(i) for i in ids]


@pytest.mark.parametrize("name", [name for name in FOLDERS if name not in ("MarianTokenizer", "M2M100Tokenizer")])
def test_pieces_are_those_of_sentencepiece_and_inputs_those_of_transformers(name, tmp_path):
    """Where transformers' own pieces are the file's: it passes over normalisation rules, or keeps spaces at the end, in
    some families."""
    sp = write(tmp_path, name, add_bos_token=True)
    ours, theirs, compared = read_tokenizer(tmp_path), theirs_from(tmp_path, name), 0
    for text in LINES:
        expected = [sp.id_to_piece(i) for i in sp.encode(text)]
        assert ours.encode(text) == [ours.id_of(piece) for piece in expected], text
        ids = theirs(text)["input_ids"]
        if theirs.convert_ids_to_tokens(theirs(text, add_special_tokens=False)["input_ids"]) == expected:
            compared += 1
            if name != "NllbTokenizer":  # languages come before the mask in the published file
                assert ours.inputs(text).ids == ids
                assert ours.inputs(text, LINES[0]).ids == theirs(text, LINES[0])["input_ids"]
    assert compared >= 6
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("name", FOLDERS)
def test_as_json_and_as_transformers_reads_what_is_written(name, tmp_path):
    write(tmp_path / "theirs", name)
    if name in ("MarianTokenizer", "M2M100Tokenizer"):
        vocabulary(tmp_path / "theirs", ["<s>", "<pad>", "</s>", "<unk>"], FOLDERS[name][1])
    ours = read_tokenizer(tmp_path / "theirs")
    (tmp_path / "again").mkdir()
    ours.save_pretrained(tmp_path / "again")
    again = PretrainedTokenizer.from_json(ours.to_json())
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path / "again")
    for text in LINES:
        assert ours.inputs(text) == again.inputs(text)
        assert ours.inputs(text).ids == theirs(text)["input_ids"]


def test_marian_reads_and_writes_with_two_files_and_one_vocabulary(tmp_path):
    sp = write(tmp_path, "MarianTokenizer")
    (tmp_path / "target.spm").write_bytes(trained(model_type="unigram", vocab_size=120))
    ids = vocabulary(tmp_path, ["</s>", "<unk>"], "source.spm", "target.spm", last=[">>fr<<", "<pad>"])
    theirs, source, target = theirs_from(tmp_path, "MarianTokenizer"), *both(tmp_path)
    for text in LINES:
        assert source.inputs(text).ids == theirs(text)["input_ids"]
        assert target.inputs(text).ids == theirs(text_target=text)["input_ids"]
    assert len(source) == len(target) == len(ids) > len(sp)
    assert source.pad == ids["<pad>"] and source.languages == (">>fr<<",)
    words = "The quick fox"
    assert source.decode(target.encode(words)) == target.decode(target.encode(words)) == words
    assert source.with_specials().encode(f">>fr<<{words}")[0] == ids[">>fr<<"]
    assert ids[">>fr<<"] not in source.encode(f">>fr<<{words}")


def test_both_of_marians_tokenizers_come_back(tmp_path, perturb):
    settings = dict(d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2)
    settings |= dict(encoder_ffn_dim=8, decoder_ffn_dim=8, vocab_size=300, max_position_embeddings=8)
    settings |= dict(pad_token_id=0, decoder_start_token_id=0, eos_token_id=1, bos_token_id=1)
    save("MarianMTModel", transformers.MarianConfig(**settings), tmp_path / "theirs", perturb)
    write(tmp_path / "tokenizer", "MarianTokenizer")
    for file in ("source.spm", "tokenizer_config.json"):
        (tmp_path / "theirs" / file).write_bytes((tmp_path / "tokenizer" / file).read_bytes())
    (tmp_path / "theirs" / "target.spm").write_bytes(trained(model_type="unigram", vocab_size=120))
    vocabulary(tmp_path / "theirs", ["</s>", "<unk>"], "source.spm", "target.spm", last=["<pad>"])
    ours = from_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    again = from_pretrained(tmp_path / "ours")
    for text in LINES:
        assert again.tokenizer.inputs(text) == ours.tokenizer.inputs(text)
        assert again.target_tokenizer.inputs(text) == ours.target_tokenizer.inputs(text)
    assert ours.tokenizer.inputs(LINES[0]) != ours.target_tokenizer.inputs(LINES[0])


def both(folder):
    return read_tokenizer(folder), read_target_tokenizer(folder)


def test_m2m100_has_its_languages_behind_the_vocabulary(tmp_path):
    write(tmp_path, "M2M100Tokenizer", src_lang="de")
    ids = vocabulary(tmp_path, ["<s>", "<pad>", "</s>", "<unk>"], "sentencepiece.bpe.model")
    sp, ours = (
        sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "sentencepiece.bpe.model")),
        both(tmp_path)[0],
    )
    for text in LINES:
        pieces = [ids[sp.id_to_piece(i)] for i in sp.encode(text)]
        assert ours.inputs(text).ids == [len(ids), *pieces, ids["</s>"]]
    assert ours.languages == ("__de__", "__en__", "__zh__") and ours.id_of("__zh__") == len(ids) + 2
    assert read_target_tokenizer(tmp_path) is None


def test_languages_stand_where_the_model_has_them(tmp_path):
    write(tmp_path, "MBartTokenizer")
    english = read_tokenizer(tmp_path)
    french = english.in_language("fr_XX")
    assert len(english.languages) == 25
    assert english.inputs("fox").ids[-2:] == [english.eos, english.id_of("en_XX")]
    assert french.inputs("fox").ids[-2:] == [french.eos, french.id_of("fr_XX")]
    assert french.in_language("en_XX").inputs("fox") == english.inputs("fox")
    with pytest.raises(DataError, match="'frXX' is no language here. Did you mean 'fr_XX'?"):
        english.in_language("frXX")
    with pytest.raises(DataError, match="'<mas>' is no token of this vocabulary. Did you mean '<mask>'?"):
        english.id_of("<mas>")


def test_sentinels_and_later_tokens(tmp_path):
    sp = write(tmp_path, "T5Tokenizer", extra_ids=3)
    ours = read_tokenizer(tmp_path)
    assert [ours.id_of(f"<extra_id_{i}>") for i in (2, 1, 0)] == [len(sp), len(sp) + 1, len(sp) + 2]
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<new>": len(sp) + 3}), encoding="utf-8")
    assert read_tokenizer(tmp_path).id_of("<new>") == len(sp) + 3
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<new>": 7}), encoding="utf-8")
    with pytest.raises(CheckpointError, match="gives '<new>' the id 7, and here it is"):
        read_tokenizer(tmp_path)


def test_deberta_in_lower_case(tmp_path):
    write(tmp_path, "DebertaV2Tokenizer", do_lower_case=True)
    ours, theirs = read_tokenizer(tmp_path), theirs_from(tmp_path, "DebertaV2Tokenizer")
    for text in ("The quick brown fox — jumps", "over 13 lazy dogs! and, newline"):
        assert ours.inputs(text).ids == theirs(text)["input_ids"]
    assert ours.inputs("a fox", "dogs").types == theirs("a fox", "dogs")["token_type_ids"]
    write(tmp_path, "DebertaV2Tokenizer", split_by_punct=True)
    with pytest.raises(CheckpointError, match="asks for signs to be split off first"):
        read_tokenizer(tmp_path)


def test_a_file_of_another_family_is_told(tmp_path):
    write(tmp_path, "XLMRobertaTokenizer")
    (tmp_path / "sentencepiece.bpe.model").write_bytes(trained(**T5 | {"eos_id": 40, "bos_id": 41}))
    with pytest.raises(CheckpointError, match="its first 3 pieces should be special ones, and they are <pad>"):
        read_tokenizer(tmp_path)


def test_a_vocabulary_with_holes_is_told(tmp_path):
    write(tmp_path, "MarianTokenizer")
    ids = vocabulary(tmp_path, ["</s>", "<unk>"], "source.spm", last=["<pad>"])
    (tmp_path / "vocab.json").write_text(json.dumps(ids | {"<pad>": 10_000}), encoding="utf-8")
    with pytest.raises(CheckpointError, match="and their ids are not 0 to"):
        read_tokenizer(tmp_path)
