"""What attention remembers between decoding steps: an object passed in and owned by the loop that decodes.

A cache is called as cache(project) -> (k, v), each (B, G, S, d); `length` counts the positions it holds and
`select(rows)` keeps, repeats or reorders the rows of the batch.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor


class KeyValue(NamedTuple):
    key: Tensor
    value: Tensor


Project = Callable[[], KeyValue]


class Cache(Protocol):
    @property
    def length(self) -> int: ...

    def __call__(self, project: Project) -> KeyValue: ...

    def select(self, rows: Tensor) -> None: ...


class _Held:
    """Keys and values once there are some."""

    kv: KeyValue | None = None

    @property
    def length(self) -> int:
        return 0 if self.kv is None else self.kv.key.size(-2)

    def select(self, rows: Tensor) -> None:
        if self.kv is not None:
            self.kv = KeyValue(*(x.index_select(0, rows) for x in self.kv))


class Growing(_Held):
    """Self-attention's memory: each call appends the new keys and values."""

    def __call__(self, project: Project) -> KeyValue:
        new = project()
        if self.kv is not None:
            new = KeyValue(torch.cat((self.kv.key, new.key), -2), torch.cat((self.kv.value, new.value), -2))
        self.kv = new
        return new


class Preallocated(_Held):
    """The same with room for what is to come: a step writes its keys and values where the last one ended."""

    room: KeyValue | None = None

    def __call__(self, project: Project) -> KeyValue:
        return self.append(project())

    def append(self, new: KeyValue) -> KeyValue:
        start = self.length
        end = start + new.key.size(-2)
        room = self.room
        if room is None or end > room.key.size(-2):
            self.room = room = KeyValue(*(_roomy(x, 2 * end + 14) for x in new))
            if self.kv is not None:
                _write(room, self.kv, 0)
        _write(room, new, start)
        self.kv = KeyValue(room.key.narrow(-2, 0, end), room.value.narrow(-2, 0, end))
        return self.kv

    def select(self, rows: Tensor) -> None:
        if self.room is not None:
            n = self.length
            self.room = KeyValue(*(x.index_select(0, rows) for x in self.room))
            self.kv = KeyValue(*(x[..., :n, :] for x in self.room))


class Fixed(_Held):
    """Cross-attention's memory: projected at the first call, used again at the others."""

    def __call__(self, project: Project) -> KeyValue:
        if self.kv is None:
            self.kv = project()
        return self.kv


def _write(room: KeyValue, new: KeyValue, start: int) -> None:
    length = new.key.size(-2)
    room.key.narrow(-2, start, length).copy_(new.key)
    room.value.narrow(-2, start, length).copy_(new.value)


def _roomy(x: Tensor, length: int) -> Tensor:
    """Uninitialised, like x (B, G, n, d) but for (B, G, length, d)."""
    return x.new_empty(*x.shape[:-2], length, x.size(-1))


class LayerCache(NamedTuple):
    """What one decoder layer remembers. `readers` rows of the decoder, side by side, read each row of the memory."""

    self_attn: Cache
    cross_attn: Cache
    readers: int = 1


class DecoderCache:
    """What a decoder remembers, a `LayerCache` a layer."""

    def __init__(self, num_layers: int) -> None:
        self.layers = [LayerCache(Preallocated(), Fixed()) for _ in range(num_layers)]

    @classmethod
    def of(cls, memories: Iterable[Cache]) -> Self:
        """With these for the self-attention of the layers."""
        made = cls(0)
        made.layers = [LayerCache(memory, Fixed()) for memory in memories]
        return made

    @property
    def length(self) -> int:
        """How many target positions have been decoded."""
        return self.layers[0].self_attn.length

    def select(self, rows: Tensor, read: Tensor | None = None) -> None:
        """Go on with these rows (N,).

        read  (M,) rows of the memory that is held, each for N / M of them side by side; by default one for each
        """
        self.reorder(rows)
        read = rows if read is None else read
        for layer in self.layers:
            layer.cross_attn.select(read)
        self.layers = [layer._replace(readers=len(rows) // len(read)) for layer in self.layers]

    def reorder(self, rows: Tensor) -> None:
        """`select` where each row takes the place of one that reads the same memory: cross-attention keeps its own."""
        for layer in self.layers:
            layer.self_attn.select(rows)
