"""SentencePiece's files (`.spm`, `.model`), read as what they are: protobuf messages. Kudo and Richardson 2018.

Of the wire format only what such a file has is read: varints, fixed numbers and strings of bytes. The numbers of the
fields are those of sentencepiece_model.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from sublayer.errors import CheckpointError, listing

Value = int | float | bytes


class Kind(IntEnum):
    """What a piece is: of these only normal and user-defined ones are found in texts."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True)
class Piece:
    text: str
    score: float
    kind: Kind


@dataclass(frozen=True)
class SentencePieces:
    """A vocabulary and the rules that go with it.

    unigram          a unigram language model; else byte-pair encoding
    byte_fallback    a character without a piece is its bytes
    charsmap         the compiled rules of normalisation, empty where there are none
    prefix           a space before every text
    collapse         spaces at the ends go, and of several in a row all but one
    """

    pieces: tuple[Piece, ...]
    unigram: bool
    byte_fallback: bool
    charsmap: bytes
    prefix: bool
    collapse: bool

    @property
    def unknown(self) -> Piece:
        return next(piece for piece in self.pieces if piece.kind is Kind.UNKNOWN)


def read_spm(path: Path) -> SentencePieces:
    """CheckpointError for a file that is none, and with every rule in it that cannot be followed here."""
    try:
        top = list(_fields(path.read_bytes()))
        pieces = tuple(_piece(value) for number, value in top if number == 1)
        trainer, normalizer = (_message(top, number) for number in (2, 3))
    except (OSError, ValueError, IndexError, struct.error, TypeError) as error:
        raise CheckpointError(f"{path} cannot be read as a SentencePiece file: {error}") from None
    kinds = [piece.kind for piece in pieces]
    kind = int(trainer.get(3, 1))
    problems = []
    if kinds.count(Kind.UNKNOWN) != 1:
        problems.append(f"it has {kinds.count(Kind.UNKNOWN)} unknown pieces, expected one")
    if kind not in (1, 2):
        problems.append(f"its model is of type {kind}; those of type 1, unigram, and 2, BPE, can be read")
    if Kind.UNUSED in kinds:
        problems.append("it has pieces of the kind unused")
    if trainer.get(24, 0):
        problems.append("it has spaces behind words (treat_whitespace_as_suffix)")
    if not normalizer.get(5, 1):
        problems.append("it leaves spaces as they are (escape_whitespaces is false)")
    if problems:
        raise CheckpointError(listing(f"{path} has what has no counterpart here:", problems))
    charsmap = normalizer.get(2, b"")
    assert isinstance(charsmap, bytes)
    return SentencePieces(
        pieces=pieces,
        unigram=kind == 1,
        byte_fallback=bool(trainer.get(35, 0)),
        charsmap=charsmap,
        prefix=bool(normalizer.get(3, 1)),
        collapse=bool(normalizer.get(4, 1)),
    )


def _piece(value: Value) -> Piece:
    held = dict(_fields(_bytes(value)))
    score = held.get(2, 0.0)
    return Piece(_bytes(held[1]).decode("utf-8"), float(score), Kind(int(held.get(3, 1))))


def _message(fields: list[tuple[int, Value]], number: int) -> dict[int, Value]:
    """The message in a field; of fields that stand in it several times, the last."""
    return dict(_fields(b"".join(_bytes(value) for n, value in fields if n == number)))


def _bytes(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError(f"a number stands where a message should, {value!r}")
    return value


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """(number, value) of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        value: Value
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
            if at > len(data):
                raise ValueError("it ends inside a field")
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            (value,) = struct.unpack("<d" if kind == 1 else "<f", data[at : at + size])
            at += size
        else:
            raise ValueError(f"a field of wire type {kind}")
        yield tag >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, seven bits a byte, the lowest first, and where the next field begins."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise ValueError("a number longer than ten bytes")
