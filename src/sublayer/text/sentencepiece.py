"""From SentencePiece's pieces and rules to the `tokenizers` library, with the same ids.

Where that library differs, it is told so: what no text may spell is cut in two before the search, scores of
user-defined pieces are those that SentencePiece's search gives them, and a space goes before every text, also before
one that begins with a space. What is left: half-width kana with a voicing mark of its own and decomposed Hangul are
not composed, as in that library's other tokenizers, and two unknown characters beside such a cut are two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Backend

from sublayer.errors import CheckpointError
from sublayer.text.spm import Kind, SentencePieces

SPACE = "▁"
ELSEWHERE = "\x00"
"""What a piece begins with that only the other side of a pair of vocabularies finds in texts."""


def backend(
    held: SentencePieces, front: Sequence[str] = (), drop: int = 0, ids: Mapping[str, int] | None = None
) -> Backend:
    """The same search over the same pieces.

    front  tokens with the first ids
    drop   so many of the file's pieces, its own specials, have no id
    ids    where another file says them, those of front among them; a piece that has none is never used
    """
    pieces = held.pieces[drop:]
    if ids is None:
        ids = {text: i for i, text in enumerate((*front, *(piece.text for piece in pieces)))}
    found = {piece.text: piece.score for piece in pieces if piece.kind is Kind.NORMAL and piece.text in ids}
    user_defined = [piece.text for piece in pieces if piece.kind is Kind.USER_DEFINED and piece.text in ids]
    kept = {*front, *(piece.text for piece in pieces if piece.text in ids)}
    made = Backend(
        _unigram(held, ids, found, user_defined, kept) if held.unigram else _bpe(held, ids, found, user_defined)
    )
    made.normalizer = _normalizer(held)
    cuts = []
    if user_defined and not held.unigram:
        longest_first = sorted(user_defined, key=len, reverse=True)
        cuts.append(pre_tokenizers.Split(Regex("|".join(map(re.escape, longest_first))), "isolated"))
    if held.unigram:
        hidden = [text for text in sorted(kept) if text not in found and text not in user_defined and len(text) > 1]
        cuts += [pre_tokenizers.Split(Regex(_within(hidden)), "merged_with_previous")] if hidden else []
    if not any(SPACE in text[1:] for text in (*found, *user_defined)):
        cuts.append(pre_tokenizers.Split(SPACE, "merged_with_next"))
    made.pre_tokenizer = pre_tokenizers.Sequence(cuts) if cuts else None
    made.decoder = _decoder(held)
    return made


def _unigram(
    held: SentencePieces,
    ids: Mapping[str, int],
    found: Mapping[str, float],
    user_defined: Sequence[str],
    kept: set[str],
) -> models.Unigram:
    if sorted(ids.values()) != list(range(len(ids))):
        raise CheckpointError(f"The vocabulary has {len(ids)} pieces, and their ids are not 0 to {len(ids) - 1}.")
    highest = max(found.values(), default=0.0)
    scores = dict(found) | {text: len(text) * highest - 0.1 for text in user_defined}
    lowest = min(found.values(), default=0.0)  # what an unknown one costs is counted from here
    spelled = [text if text in kept else ELSEWHERE + text for text in sorted(ids, key=ids.__getitem__)]
    vocabulary = [(text, scores.get(text, max(lowest, 0.0))) for text in spelled]
    return models.Unigram(vocabulary, unk_id=ids[held.unknown.text], byte_fallback=held.byte_fallback)


def _bpe(
    held: SentencePieces, ids: Mapping[str, int], found: Mapping[str, float], user_defined: Sequence[str]
) -> models.BPE:
    """Every way to put a piece together from two is a merge, the better piece first."""
    ranked = [
        (-score, ids[text], (text[:cut], text[cut:]))
        for text, score in found.items()
        for cut in range(1, len(text))
        if text[:cut] in found and text[cut:] in found
    ]
    return models.BPE(
        dict(ids),
        [merge for *_, merge in sorted(ranked)],
        unk_token=held.unknown.text,
        fuse_unk=True,
        byte_fallback=held.byte_fallback,
        ignore_merges=bool(user_defined),  # these are whole, whatever they could be put together from
    )


def _within(hidden: Sequence[str]) -> str:
    """Matches the first character of each of these, so that a text that spells one is cut behind it."""
    rests: dict[str, list[str]] = {}
    for text in hidden:
        rests.setdefault(text[0], []).append(re.escape(text[1:]))
    return "|".join(f"{re.escape(first)}(?={'|'.join(rest)})" for first, rest in rests.items())


def _normalizer(held: SentencePieces) -> normalizers.Normalizer:
    steps: list[normalizers.Normalizer] = [normalizers.Precompiled(held.charsmap)] if held.charsmap else []
    if held.collapse:
        steps += [normalizers.Replace(Regex(r"\A +| +\z"), ""), normalizers.Replace(Regex(" {2,}"), " ")]
    if held.prefix:
        steps.append(normalizers.Prepend(SPACE))
    return normalizers.Sequence([*steps, normalizers.Replace(" ", SPACE)])


def _decoder(held: SentencePieces) -> decoders.Decoder:
    steps: list[decoders.Decoder] = [decoders.Replace(ELSEWHERE, ""), decoders.Replace(SPACE, " ")]
    steps += [decoders.ByteFallback()] if held.byte_fallback else []
    steps += [decoders.Fuse()]
    steps += [decoders.Strip(" ", 1, 0)] if held.prefix else []
    return decoders.Sequence(steps)
