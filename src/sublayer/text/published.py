"""Tokenizers from the files that a published folder holds. Nothing in it is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend

from sublayer.errors import CheckpointError
from sublayer.text.pretrained import ROLES, PretrainedTokenizer
from sublayer.text.spm_folder import layout_of, read_pieces

ROBERTA = {
    "pad": "<pad>",
    "unk": "<unk>",
    "bos": "<s>",
    "eos": "</s>",
    "cls": "<s>",
    "sep": "</s>",
    "mask": "<mask>",
}
GPT2 = dict.fromkeys(("unk", "bos", "eos"), "<|endoftext|>")
BERT = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


WRITES = "target_tokenizer.json"
"""Where `save_pretrained` of a model puts the tokenizer of what it writes."""


def read_tokenizer(folder: Path) -> PretrainedTokenizer | None:
    """From tokenizer.json, else from vocab.txt (WordPiece), vocab.json and merges.txt (byte-level BPE) or the family's
    SentencePiece file; None where there is none of them."""
    about, specials = _about(folder)
    if (folder / "tokenizer.json").is_file():
        return PretrainedTokenizer(_whole(folder / "tokenizer.json"), specials=specials)
    if (folder / "vocab.txt").is_file():
        return PretrainedTokenizer(_wordpiece(folder / "vocab.txt", about, specials), specials=BERT | specials)
    if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
        return _byte_level(folder, specials, bool(about.get("add_prefix_space", False)))
    layout = layout_of(folder, about, _object(folder / "config.json").get("model_type"))
    return None if layout is None else read_pieces(folder, layout, about, specials)


def read_target_tokenizer(folder: Path) -> PretrainedTokenizer | None:
    """The one for texts that the model writes, where that is another than for those that it reads, as in Marian; else
    None."""
    if (folder / WRITES).is_file():
        return PretrainedTokenizer.load(folder / WRITES)
    about, specials = _about(folder)
    layout = layout_of(folder, about, _object(folder / "config.json").get("model_type"))
    if layout is None or not (folder / "target.spm").is_file() or (folder / "tokenizer.json").is_file():
        return None
    return read_pieces(folder, layout, about, specials, "target.spm")


def _about(folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    about = _object(folder / "special_tokens_map.json") | _object(folder / "tokenizer_config.json")
    return about, {role: _spelled(about[f"{role}_token"]) for role in ROLES if about.get(f"{role}_token")}


def _object(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
    if not isinstance(held, dict):
        raise CheckpointError(f"{path} holds {type(held).__name__}, expected an object with keys.")
    return held


def _spelled(token: Any) -> str:
    return str(token["content"]) if isinstance(token, dict) else str(token)


def _whole(path: Path) -> Backend:
    try:
        return Backend.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the library raises bare Exception
        raise CheckpointError(f"{path} is no tokenizer's JSON: {error}.") from None


def _wordpiece(path: Path, about: Mapping[str, Any], specials: dict[str, str]) -> Backend:
    """Text cleaned, Chinese characters set apart, lower case without accents unless told otherwise; then words and
    signs; then the longest parts that the vocabulary has. Devlin et al. 2019, section 3."""
    names = BERT | specials
    lines = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    vocabulary = {line.removesuffix("\r"): i for i, line in enumerate(lines)}
    if missing := [names[role] for role in ("unk", "cls", "sep") if names[role] not in vocabulary]:
        raise CheckpointError(f"{path} has no line for the special tokens {', '.join(missing)}.")
    backend = Backend(models.WordPiece(vocabulary, unk_token=names["unk"], max_input_chars_per_word=100))
    backend.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=about.get("tokenize_chinese_chars", True),
        strip_accents=about.get("strip_accents"),
        lowercase=about.get("do_lower_case", True),
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    ends = {role: (names[role], vocabulary[names[role]]) for role in ("sep", "cls")}
    backend.post_processor = processors.BertProcessing(ends["sep"], ends["cls"])
    backend.add_special_tokens([names[role] for role in BERT if names[role] in vocabulary])
    return backend


def _byte_level(folder: Path, specials: dict[str, str], prefix: bool) -> PretrainedTokenizer:
    """Radford et al. 2019, section 2.2. The vocabularies of RoBERTa's kind hold the specials that are put around a
    text, those of GPT-2's kind do not."""
    vocabulary = _object(folder / "vocab.json")
    lines = (folder / "merges.txt").read_bytes().decode("utf-8").split("\n")
    merges = [(a, b) for a, b in (line.removesuffix("\r").split(" ") for line in lines if _is_merge(line))]
    names = (ROBERTA if all(token in vocabulary for token in ROBERTA.values()) else GPT2) | specials
    backend = Backend(models.BPE(vocabulary, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    backend.decoder = decoders.ByteLevel()
    if "cls" in names and "sep" in names:
        ends = {role: (names[role], vocabulary[names[role]]) for role in ("sep", "cls")}
        backend.post_processor = processors.RobertaProcessing(ends["sep"], ends["cls"], add_prefix_space=prefix)
    known = dict.fromkeys(token for token in names.values() if token in vocabulary)
    backend.add_special_tokens([AddedToken(token, lstrip=token == names.get("mask"), special=True) for token in known])
    return PretrainedTokenizer(backend, specials={role: token for role, token in names.items() if token in vocabulary})


def _is_merge(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#version")
