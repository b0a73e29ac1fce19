"""Vocabularies of parts of words: byte-level BPE, byte-level Unigram, WordPiece.

A special token is spelled with both letters and signs. Each kind here first cuts texts between letters and
signs, so no part it learns or finds can be spelled like one.

The library's BPE trainer gives the same vocabulary in every run; its other two walk over a hash table in an
order that changes from run to run. What is done about it stands at each.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Backend

from sublayer.errors import ConfigError
from sublayer.text.fit import fit
from sublayer.text.plan import Plan
from sublayer.text.special import SPECIALS, UNK
from sublayer.text.tokenizer import Tokenizer

BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())
CONTINUED = "##"


def bpe(texts: Iterable[str], plan: Plan) -> Tokenizer:
    """Byte-level BPE (Sennrich et al. 2016; on bytes: Radford et al. 2019, section 2.2).

    Any text reads back unchanged when the normalisation is "none".
    """
    _must_hold(plan, BYTES, "bytes")
    trainer = trainers.BpeTrainer(
        vocab_size=plan.vocab_size,
        min_frequency=plan.min_count,
        special_tokens=list(SPECIALS),
        initial_alphabet=BYTES,
        show_progress=False,
    )
    backend = fit(_byte_level(models.BPE(), plan), texts, trainer)
    return Tokenizer(backend, kind="bpe", normalization=plan.normalization)


def unigram(texts: Iterable[str], plan: Plan) -> Tokenizer:
    """Unigram language model (Kudo 2018), on bytes, so that nothing is unknown.

    Any text reads back unchanged when the normalisation is "none".
    """
    _must_hold(plan, BYTES, "bytes")
    trainer = trainers.UnigramTrainer(
        vocab_size=plan.vocab_size,
        special_tokens=list(SPECIALS),
        unk_token=UNK,
        initial_alphabet=BYTES,
        show_progress=False,
    )
    backend = fit(_byte_level(models.Unigram(), plan), texts, trainer)
    vocabulary = _settled(json.loads(backend.to_str())["model"]["vocab"], plan.vocab_size)
    backend.model = models.Unigram(vocabulary, unk_id=SPECIALS.index(UNK), byte_fallback=False)
    return Tokenizer(backend, kind="unigram", normalization=plan.normalization)


def wordpiece(texts: Iterable[str], plan: Plan) -> Tokenizer:
    """WordPiece as in BERT (Devlin et al. 2019), with case and accents kept.

    Signs and Chinese characters stand alone. White space is not kept: the text reads back with one space
    between words and none before a full stop, a comma and the like.
    """
    backend = _bert(plan)
    counts = Counter(_pieces(backend, texts))
    # Single characters get their ids before the trainer meets them in the order of its hash table.
    alphabet = sorted({c for piece in counts for c in piece})
    alphabet += sorted({CONTINUED + c for piece in counts for c in piece[1:]})
    _must_hold(plan, alphabet, "characters (at the start of words and, apart from that, inside them)")
    trainer = trainers.WordPieceTrainer(
        vocab_size=plan.vocab_size,
        min_frequency=plan.min_count,
        special_tokens=[*SPECIALS, *alphabet],
        show_progress=False,
    )
    backend = fit(backend, (" ".join([piece] * count) for piece, count in counts.items()), trainer)
    return Tokenizer(backend, kind="wordpiece", normalization=plan.normalization)


def _byte_level(model: models.Model, plan: Plan) -> Backend:
    backend = Backend(model)
    backend.normalizer = normalizers.Sequence(plan.normalizers())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return backend


def _bert(plan: Plan) -> Backend:
    backend = Backend(models.WordPiece(unk_token=UNK))
    bert = normalizers.BertNormalizer(clean_text=False, strip_accents=False, lowercase=False)
    backend.normalizer = normalizers.Sequence([*plan.normalizers(), bert])
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    # The library's own clean-up would turn "do not" into "don't"; this one changes no word.
    needless = Regex(r" (?=[.,!?;:，。！？；：、])|(?<=[㐀-䶿一-鿿，。！？；：、]) (?=[㐀-䶿一-鿿])")
    joined = decoders.WordPiece(prefix=CONTINUED, cleanup=False)
    backend.decoder = decoders.Sequence([joined, decoders.Fuse(), decoders.Replace(needless, "")])
    return backend


def _pieces(backend: Backend, texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for piece, _ in backend.pre_tokenizer.pre_tokenize_str(backend.normalizer.normalize_str(text)):
            yield piece


def _settled(vocabulary: list[list[Any]], vocab_size: int) -> list[tuple[str, float]]:
    """The same pieces with scores and order that do not depend on the run, and no more than were asked for.

    Sums taken in another order differ in the last digits, so scores are rounded. Bytes the trainer did not
    need get the lowest score plus a ten-thousandth for each one before them, in the order of the hash table:
    all of these get the lowest score itself. Small vocabularies come out too large: the rarest parts go.
    """
    lowest = min(score for _, score in vocabulary)
    unneeded = lowest + 1.01e-4 * len(BYTES)
    scores = {
        piece: round(lowest if len(piece) == 1 and score < unneeded else score, 4)
        for piece, score in vocabulary
        if piece not in SPECIALS
    }

    def rank(piece: str) -> tuple[float, str]:
        return -scores[piece], piece

    parts = sorted((piece for piece in scores if len(piece) > 1), key=rank)
    parts = parts[: vocab_size - len(SPECIALS) - len(BYTES)]
    pieces = sorted([*BYTES, *parts], key=rank)
    return [(special, 0.0) for special in SPECIALS] + [(piece, scores[piece]) for piece in pieces]


def _must_hold(plan: Plan, alphabet: list[str], what: str) -> None:
    needed = len(SPECIALS) + len(alphabet)
    if plan.vocab_size < needed:
        raise ConfigError(
            f"vocab_size={plan.vocab_size} is too small for {len(SPECIALS)} special tokens and "
            f"{len(alphabet)} {what}: write {needed} or more."
        )
