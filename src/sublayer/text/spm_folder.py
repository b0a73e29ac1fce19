"""Tokenizers of folders whose pieces are in a SentencePiece file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, normalizers, processors
from tokenizers import Tokenizer as Backend

from sublayer.errors import CheckpointError
from sublayer.text.layouts import LANGUAGE, LAYOUTS, OF_MODELS, Layout
from sublayer.text.pretrained import PretrainedTokenizer
from sublayer.text.sentencepiece import backend
from sublayer.text.spm import read_spm


def layout_of(folder: Path, about: Mapping[str, Any], model_type: str | None) -> Layout | None:
    """The family's, where its SentencePiece file is there."""
    said = str(about.get("tokenizer_class", "")).removesuffix("Fast")
    if said not in LAYOUTS:
        said = OF_MODELS.get(str(model_type), "")
    if said == "M2M100Tokenizer" and not (folder / "vocab.json").is_file():
        said = "NllbTokenizer"
    layout = LAYOUTS.get(said)
    return layout if layout is not None and (folder / layout.file).is_file() else None


def read_pieces(
    folder: Path, layout: Layout, about: Mapping[str, Any], specials: Mapping[str, str], file: str | None = None
) -> PretrainedTokenizer:
    """specials: as the folder spells them, by role; file: another than the layout's, for the other side of a pair."""
    held = read_spm(folder / (file or layout.file))
    if any(piece.kind == 1 for piece in held.pieces[: layout.drop]):
        raise CheckpointError(
            f"{folder / layout.file}: its first {layout.drop} pieces should be special ones, and they are "
            f"{', '.join(piece.text for piece in held.pieces[: layout.drop])}."
        )
    ids = _ids(folder / "vocab.json") if layout.drop == 0 and (folder / "vocab.json").is_file() else None
    front = list(layout.front)
    if ids is not None:
        front = [token for token in ids if token in front or token.startswith(">>")]
    made = backend(held, front, layout.drop, ids)
    names = {**layout.specials, **specials}
    first = [token for token in dict.fromkeys([*front, *names.values()]) if made.token_to_id(token) is not None]
    after = [token for token in layout.after(about) if token not in first]
    added = _added(folder, about)
    listed = [*first, *after, *(token for token in added if token not in first and token not in after)]
    made.add_special_tokens([AddedToken(token, lstrip=token == names.get("mask"), special=True) for token in listed])
    for token, number in added.items():
        if made.token_to_id(token) != number:
            raise CheckpointError(
                f"{folder} gives {token!r} the id {number}, and here it is {made.token_to_id(token)}."
            )
    _read_differently(made, about)
    made.post_processor = _around(made, layout, about)
    return PretrainedTokenizer(
        made, specials={role: token for role, token in names.items() if made.token_to_id(token) is not None}
    )


def _ids(path: Path) -> dict[str, int]:
    held = json.loads(path.read_text(encoding="utf-8"))
    return {str(token): int(number) for token, number in held.items()}


def _added(folder: Path, about: Mapping[str, Any]) -> dict[str, int]:
    """Tokens that were added later, with their ids, in the order of these."""
    later = about.get("added_tokens_decoder", {})
    found = {str(token["content"]): int(number) for number, token in later.items()}
    if (folder / "added_tokens.json").is_file():
        found |= _ids(folder / "added_tokens.json")
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _read_differently(made: Backend, about: Mapping[str, Any]) -> None:
    """What DeBERTa's settings ask for beyond the file."""
    if about.get("split_by_punct"):
        raise CheckpointError(
            "tokenizer_config.json asks for signs to be split off first (split_by_punct), which is not done here: set "
            "it to false, or write a tokenizer.json with transformers."
        )
    if about.get("do_lower_case"):
        made.normalizer = normalizers.Sequence([normalizers.Lowercase(), made.normalizer])


def _around(made: Backend, layout: Layout, about: Mapping[str, Any]) -> processors.TemplateProcessing:
    text, pair = layout.text, layout.pair
    if layout is LAYOUTS["LlamaTokenizer"]:
        bos = "<s> " if about.get("add_bos_token", True) else ""
        eos = " </s>" if about.get("add_eos_token") else ""
        text, pair = f"{bos}$A{eos}", f"{bos}$A{eos} {bos}$B{eos}"
    if about.get("legacy_behaviour"):  # NLLB's former one: the language behind the text
        text, pair = (template.replace("$L ", "").replace("</s>", "</s> $L") for template in (text, pair))
    language = str(about.get("src_lang") or layout.language)
    language = f"__{language}__" if layout.language.startswith("__") and "__" not in language else language
    templates = [[language if part == LANGUAGE else part for part in t.split()] for t in (text, pair)]
    tokens = {part.removesuffix(":1") for template in templates for part in template if not part.startswith("$")}
    if missing := [token for token in sorted(tokens) if made.token_to_id(token) is None]:
        raise CheckpointError(f"The vocabulary lacks the special tokens {', '.join(missing)}.")
    known = [(token, made.token_to_id(token)) for token in sorted(tokens)]
    return processors.TemplateProcessing(single=templates[0], pair=templates[1], special_tokens=known)
