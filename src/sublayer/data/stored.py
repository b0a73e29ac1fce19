"""Token ids in a memory-mapped file: examples that memory need not hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, overload

import numpy as np

from sublayer.errors import ConfigError, DataError

Ids = tuple[list[int], list[int]]  # of source and target
CHUNK = 16_384  # examples that stand together in the file


class StoredIds(Sequence[Ids]):
    """The examples of an Arrow file that `store` has written. Each is read when it is asked for, so what they take of
    memory is what the system has room for. DataError where the file is not whole."""

    def __init__(self, path: Path) -> None:
        arrow = _arrow()
        try:
            file = arrow.ipc.open_file(arrow.memory_map(str(path)))
            self._chunks = [file.get_batch(number) for number in range(file.num_record_batches)]
        except (arrow.ArrowInvalid, OSError) as error:
            raise DataError(f"{path} cannot be read: {error}. Delete it: it is made again from the texts.") from None
        self.path = path
        self._count = sum(chunk.num_rows for chunk in self._chunks)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> Ids: ...
    @overload
    def __getitem__(self, row: slice) -> list[Ids]: ...
    def __getitem__(self, row: int | slice) -> Ids | list[Ids]:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        chunk, at = divmod(range(len(self))[row], CHUNK)
        source, target = (column[at].as_py() for column in self._chunks[chunk].columns)
        return source, target

    def lengths(self) -> np.ndarray:
        """(N, 2): how many ids each side of each example has."""
        found = [np.stack([_lengths(column) for column in chunk.columns], 1) for chunk in self._chunks]
        return np.concatenate(found) if found else np.empty((0, 2), np.int32)


def store(examples: Iterable[Ids], path: Path, vocab_size: int) -> StoredIds:
    """Write examples of ids below `vocab_size` in constant memory. A file is there when it is whole."""
    arrow = _arrow()
    kind = arrow.list_(arrow.uint16() if vocab_size <= 2**16 else arrow.uint32())
    schema = arrow.schema([("source", kind), ("target", kind)])
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    rest = iter(examples)
    try:
        with arrow.OSFile(str(beside), "wb") as file, arrow.ipc.new_file(file, schema) as writer:
            while chunk := list(islice(rest, CHUNK)):
                columns = [arrow.array(column, kind) for column in zip(*chunk, strict=True)]
                writer.write_batch(arrow.record_batch(columns, schema))
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return StoredIds(path)


def _lengths(column: Any) -> np.ndarray:
    return np.asarray(column.value_lengths().to_numpy(), np.int32)


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise ConfigError("data.store needs pyarrow: pip install 'sublayer[data]'.") from None
    return pyarrow
