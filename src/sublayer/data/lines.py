"""Files to lines, as bytes. Only LF and CRLF end one."""

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from sublayer.errors import DataError


def open_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file (`.gz` too) as bytes, without their ends. DataError where it cannot be read."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield from split_lines(file)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def split_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Lines without their ends and without the file's byte-order mark. A binary file iterates by LF."""
    for number, raw in enumerate(file):
        line = raw.removesuffix(b"\r\n").removesuffix(b"\n")
        yield line if number else line.removeprefix(codecs.BOM_UTF8)
